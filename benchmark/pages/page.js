"use strict";
// Sorting and filtering of the tables. All they need is in the page: values in data-value, tags in data-dataset,
// data-family and so on. Without this script the page shows everything, in its first order.

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

document.querySelectorAll("table.data").forEach(makeSortable);
document.querySelectorAll(".filters").forEach(makeFiltered);
