"use strict";
// Sorts and filters tables, opens pictures large, and opens a folded part that a link leads to. All it needs is in
// the page: values in data-value, tags in data-dataset, data-family and so on. Without this script the page shows
// every table, in its first order.

function valueOf(row, column) {
  const cell = row.cells[column];
  const value = cell.dataset.value;
  if (cell.classList.contains("number")) return value === undefined ? null : Number(value);
  const text = value === undefined ? cell.textContent.trim() : value;
  return text === "" || text === "–" ? null : text;
}

function compare(first, second) {
  return typeof first === "number" ? first - second : first.localeCompare(second, "en", { numeric: true });
}

function sort(table, column, direction) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => ({ row, value: valueOf(row, column) }));
  rows.sort((one, other) => {
    if (one.value === null || other.value === null) return (one.value === null) - (other.value === null);
    return direction === "ascending" ? compare(one.value, other.value) : compare(other.value, one.value);
  });
  body.append(...rows.map((entry) => entry.row));
  for (const heading of table.tHead.rows[0].cells) heading.setAttribute("aria-sort", "none");
  table.tHead.rows[0].cells[column].setAttribute("aria-sort", direction);
}

function makeSortable(table) {
  Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    heading.setAttribute("aria-sort", "none");
    const first = heading.classList.contains("number") ? "descending" : "ascending";
    button.addEventListener("click", () => {
      const now = heading.getAttribute("aria-sort");
      const turned = now === "ascending" ? "descending" : "ascending";
      sort(table, column, now === "none" ? first : turned);
    });
  });
}

function matches(element, wanted) {
  return wanted.every(([name, value]) => value === "" || !(name in element.dataset) || element.dataset[name] === value);
}

function applyFilters(section, selects, count) {
  const wanted = selects.map((select) => [select.dataset.filter, select.value]);
  let shown = 0, all = 0;
  for (const block of section.querySelectorAll(".block")) block.hidden = !matches(block, wanted);
  for (const table of section.querySelectorAll("table.data")) {
    const visible = table.closest("[hidden]") === null;
    const hidden = Array.from(table.tHead.rows[0].cells, (heading) => !matches(heading, wanted));
    for (const row of [table.tHead.rows[0], ...table.tBodies[0].rows])
      hidden.forEach((isHidden, column) => { row.cells[column].hidden = isHidden; });
    for (const row of table.tBodies[0].rows) {
      row.hidden = !matches(row, wanted);
      if (visible) { all += 1; shown += row.hidden ? 0 : 1; }
    }
  }
  count.textContent = `${shown} of ${all} rows`;
}

function makeFiltered(filters) {
  const section = filters.closest("section");
  const selects = Array.from(filters.querySelectorAll("select"));
  const apply = () => applyFilters(section, selects, filters.querySelector(".count"));
  for (const select of selects) {
    select.selectedIndex = 0;
    select.addEventListener("change", apply);
  }
  filters.hidden = false;
  apply();
}

function makeDialog() {
  const dialog = document.createElement("dialog");
  dialog.className = "large";
  dialog.setAttribute("aria-label", "Large picture");
  dialog.addEventListener("click", () => dialog.close());
  document.body.append(dialog);
  return dialog;
}

function openLarge(dialog, pictures) {
  const close = document.createElement("button");
  close.type = "button";
  close.className = "close";
  close.textContent = "Close";
  dialog.replaceChildren(...pictures.map((picture) => picture.cloneNode(true)), close);
  dialog.showModal();
}

function makeEnlargeable(figure, dialog) {
  const pictures = Array.from(figure.querySelectorAll(":scope > picture, :scope > img, :scope > svg"));
  if (pictures.length === 0) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "enlarge";
  button.title = "Open large";
  pictures[0].before(button);
  button.append(...pictures);
  button.addEventListener("click", () => openLarge(dialog, pictures));
}

function unfoldTarget() {
  const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  if (target?.closest("details")) target.scrollIntoView();
}

function unfoldAll() {
  for (const fold of document.querySelectorAll("details.fold")) fold.open = true;
}

document.querySelectorAll("table.data").forEach(makeSortable);
document.querySelectorAll(".filters").forEach(makeFiltered);
const figures = document.querySelectorAll("figure");
if (figures.length > 0) {
  const dialog = makeDialog();
  figures.forEach((figure) => makeEnlargeable(figure, dialog));
}
unfoldTarget();
window.addEventListener("hashchange", unfoldTarget);
window.addEventListener("beforeprint", unfoldAll);
