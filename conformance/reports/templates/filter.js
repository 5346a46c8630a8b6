// Rows have data-text and data-verdicts; those stay that have every word, and a verdict that is ticked.
const words = document.querySelector('#words'), boxes = [...document.querySelectorAll('[name=verdict]')];
const differ = document.querySelector('#differ'), shown = document.querySelector('#shown');
const rows = [...document.querySelectorAll('[data-text]')];
function apply() {
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const ticked = boxes.filter(box => box.checked).map(box => box.value);
  let number = 0;
  for (const row of rows) {
    const verdicts = row.dataset.verdicts.split(' ');
    row.hidden = !(wanted.every(word => row.dataset.text.includes(word)) && verdicts.some(each => ticked.includes(each))
      && !(differ && differ.checked && new Set(verdicts).size < 2));
    number += !row.hidden;
  }
  shown.textContent = `${number} of ${rows.length} rules`;
}
document.querySelector('.filters').addEventListener('input', apply);
apply();
// A link to a rule shows it, whatever is ticked, and opens it.
function open_target() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  target.hidden = false;
  target.querySelectorAll('details').forEach(each => { each.open = true; });
  target.scrollIntoView();
}
addEventListener('hashchange', open_target);
open_target();
