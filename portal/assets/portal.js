// The filters of the support matrix.
(() => {
  const field = document.getElementById("matrix-field");
  if (!field) return;
  const endpoint = document.getElementById("matrix-endpoint");
  const system = document.getElementById("matrix-system");
  const level = document.getElementById("matrix-level");
  const count = document.getElementById("matrix-count");
  const rows = [...document.querySelectorAll(".matrix tbody tr")];
  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const said = row.dataset.levels.split(" ").filter((each) => !system.value || each.startsWith(`${system.value}:`));
      const fits =
        words.every((word) => row.id.toLowerCase().includes(word)) &&
        (!endpoint.value || row.dataset.endpoint === endpoint.value) &&
        (!(level.value || system.value) || said.some((each) => !level.value || each.endsWith(`:${level.value}`)));
      row.hidden = !fits;
      shown += fits;
    }
    for (const box of document.querySelectorAll(".matrix")) {
      const empty = !box.querySelector("tbody tr:not([hidden])");
      box.hidden = empty;
      box.previousElementSibling.hidden = empty;
    }
    for (const head of document.querySelectorAll(".md-content h2")) {
      let next = head.nextElementSibling;
      let empty = true;
      for (; next && next.tagName !== "H2"; next = next.nextElementSibling) {
        if (next.matches(".matrix:not([hidden])")) empty = false;
      }
      head.hidden = empty;
    }
    count.textContent = `${shown} of ${rows.length} fields`;
  };
  for (const each of [field, endpoint, system, level]) each.addEventListener("input", apply);
  apply();
})();
