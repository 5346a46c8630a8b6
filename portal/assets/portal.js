// The filters of the support matrix. They are in the address, so that a view can be linked.
(() => {
  const form = document.getElementById("matrix-filter");
  if (!form) return;
  const { field, endpoint, system, level } = form.elements;
  const count = document.getElementById("matrix-count");
  const systems = [...system.options].map((option) => option.value).filter(Boolean);
  const rows = [...document.querySelectorAll(".matrix tbody tr[id]")];
  // The level of each system, in the order of the columns behind those of the field and of this server.
  const levels = new Map(rows.map((row) => [row, [...row.cells].slice(2).map((cell) => cell.querySelector(".level")?.textContent)]));
  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const stated = levels.get(row).filter((each, number) => each && (!system.value || systems[number] === system.value));
      const fits =
        words.every((word) => row.id.toLowerCase().includes(word)) &&
        (!endpoint.value || row.dataset.endpoint === endpoint.value) &&
        (!(level.value || system.value) || stated.some((each) => !level.value || each === level.value));
      row.hidden = !fits;
      shown += fits;
    }
    for (const part of document.querySelectorAll(".matrix tbody")) part.hidden = !part.querySelector("tr[id]:not([hidden])");
    count.textContent = `${shown} of ${rows.length} fields`;
  };
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (form.elements[name]) form.elements[name].value = value;
  }
  form.addEventListener("input", () => {
    apply();
    const set = [...new FormData(form)].filter(([, value]) => value);
    history.replaceState(null, "", set.length ? `?${new URLSearchParams(set)}` : location.pathname);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
})();

// Tables of many columns are cards on a narrow screen (portal.css): each cell has the name of its column.
for (const table of document.querySelectorAll(".md-typeset table:not([class])")) {
  const names = [...(table.tHead?.rows[0].cells ?? [])].map((cell) => cell.textContent.trim());
  if (names.length < 4) continue;
  table.dataset.cards = "";
  for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, column) => (cell.dataset.column = names[column]));
}

// What the theme leaves without a name, or out of reach of the keyboard. It adds some of it later, and some again.
(() => {
  const mend = () => {
    document.querySelector(".md-search:not([aria-label])")?.setAttribute("aria-label", "Search");
    for (const each of document.querySelectorAll("pre > code:not([tabindex]), .md-typeset__scrollwrap:not([tabindex])")) each.tabIndex = 0;
    for (const each of document.querySelectorAll("nav.md-code__nav:not([role])")) each.setAttribute("role", "none");
  };
  new MutationObserver(mend).observe(document.body, { attributeFilter: ["tabindex"], childList: true, subtree: true });
  mend();
})();
