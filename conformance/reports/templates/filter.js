// Shows rows whose data-text has every word and whose data-verdicts has a checked verdict.
const words = document.querySelector('#words'), boxes = [...document.querySelectorAll('[name=verdict]')];
const differ = document.querySelector('#differ'), shown = document.querySelector('#shown');
const rows = [...document.querySelectorAll('[data-text]')];
function apply() {
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const checked = boxes.filter(box => box.checked).map(box => box.value);
  let number = 0;
  for (const row of rows) {
    const verdicts = row.dataset.verdicts.split(' ');
    row.hidden = !(wanted.every(word => row.dataset.text.includes(word)) && verdicts.some(verdict => checked.includes(verdict))
      && !(differ && differ.checked && new Set(verdicts).size < 2));
    number += !row.hidden;
  }
  shown.textContent = `${number} of ${rows.length} rules`;
}
document.querySelector('.filters').addEventListener('input', apply);
apply();
// A link to a rule shows and opens it, whatever is checked.
function open_target() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  target.hidden = false;
  target.querySelectorAll('details').forEach(details => { details.open = true; });
  target.scrollIntoView();
}
addEventListener('hashchange', open_target);
open_target();
