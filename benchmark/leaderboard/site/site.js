
// The leaderboard's site: the address says which view is shown, so that any view can be linked to, and the page that
// compares two losses. What comes from entries is only ever set as text.

function stateInAddress() {
  return new URLSearchParams(location.hash.slice(1));
}

function writeAddress(state) {
  const text = state.toString();
  history.replaceState(null, "", `${location.pathname}${location.search}${text ? `#${text}` : ""}`);
}

function hasOption(select, value) {
  return Array.from(select.options).some((option) => option.value === value);
}

function shownTable(section) {
  return Array.from(section.querySelectorAll("table.data")).find((table) => table.closest("[hidden]") === null);
}

function makeLinkable(section) {
  const selects = Array.from(section.querySelectorAll(".filters select"));
  let restoring = false;

  function remember() {
    if (restoring) return;
    const state = new URLSearchParams();
    for (const select of selects) if (select.selectedIndex > 0) state.set(select.dataset.filter, select.value);
    const headings = Array.from(shownTable(section)?.tHead.rows[0].cells ?? []);
    const sorted = headings.findIndex((heading) => heading.getAttribute("aria-sort") !== "none");
    if (sorted >= 0) {
      state.set("sort", headings[sorted].textContent);
      state.set("order", headings[sorted].getAttribute("aria-sort"));
    }
    writeAddress(state);
  }

  function restore() {
    const state = stateInAddress();
    for (const select of selects) {
      const value = state.get(select.dataset.filter);
      if (value !== null && hasOption(select, value)) select.value = value;
      else select.selectedIndex = 0;
    }
    restoring = true;
    selects[0].dispatchEvent(new Event("change"));
    restoring = false;
    const table = shownTable(section);
    const headings = Array.from(table?.tHead.rows[0].cells ?? [], (heading) => heading.textContent);
    const column = headings.indexOf(state.get("sort"));
    if (column >= 0) sort(table, column, state.get("order") === "ascending" ? "ascending" : "descending");
  }

  restore();
  window.addEventListener("hashchange", restore);
  section.addEventListener("click", (event) => { if (event.target.closest("th button")) remember(); });
  for (const select of selects) select.addEventListener("change", remember);
}

// Comparing

function shown(value, decimals) {
  return value === null ? "–" : value.toFixed(decimals).replace("-", "−").replace(/^−(0\.?0*)$/, "$1");
}

function withHalf(value, half, decimals) {
  return half === null || value === null ? shown(value, decimals) : `${shown(value, decimals)} ± ${half.toFixed(decimals)}`;
}

function signed(value, half, decimals) {
  const text = withHalf(value, half, decimals);
  return value > 0 && Number(value.toFixed(decimals)) !== 0 ? `+${text}` : text;
}

function verdict(row, difference, p, reason) {
  if (difference === null) return reason || "no value for both";
  if (p === null) return reason || "not tested";
  if (p >= 0.05) return "not significant";
  if (row.better === "neither") return difference > 0 ? "larger" : "smaller";
  return (difference > 0) === (row.better === "higher") ? "better" : "worse";
}

function pairOf(row, one, other, count) {
  const [first, second] = one < other ? [one, other] : [other, one];
  const place = first * count - (first * (first + 1)) / 2 + (second - first - 1);
  const [difference, half, p, reason] = row.pairs[place];
  return { difference: difference === null || one < other ? difference : -difference, half, p, reason };
}

function cell(tag, text, kind, value) {
  const made = document.createElement(tag);
  made.className = kind;
  made.textContent = text;
  if (value !== undefined && value !== null) made.dataset.value = value;
  if (tag === "th") made.scope = "row";
  return made;
}

function rowOf(row, one, other, count) {
  const unit = row.unit ? `, ${row.unit}` : "";
  const { difference, half, p, reason } = pairOf(row, one, other, count);
  const words = verdict(row, difference, p, reason);
  const made = document.createElement("tr");
  made.className = row.main ? "main" : "";
  made.append(
    cell("th", row.metric + unit, "text"),
    cell("td", row.dataset, "text"),
    ...[one, other].map((place) => cell("td", withHalf(...row.means[place], row.decimals), "number", row.means[place][0])),
    cell("td", signed(difference, half, row.decimals), "number", difference),
    cell("td", p === null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3), "number", p),
    cell("td", words, `text ${words === "better" || words === "worse" ? words : ""}`),
  );
  return made;
}

function sentenceOf(row, names, one, other, count) {
  const { difference, half, p, reason } = pairOf(row, one, other, count);
  const words = verdict(row, difference, p, reason);
  const unit = row.unit === "%" ? " points" : row.unit;
  const by = difference === null ? "" : ` (${signed(difference, half, row.decimals)}${unit})`;
  const said = words === "better" || words === "worse" ? `${names[one]} is ${words} than ${names[other]}` : words;
  const made = document.createElement("li");
  made.textContent = `On ${row.dataset}, by ${row.metric.toLowerCase()}: ${said}${by}.`;
  return made;
}

function makeComparison(section) {
  const holder = document.getElementById("data");
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const names = data.losses.map((loss) => loss.label);
  const places = new Map(data.losses.map((loss, place) => [loss.name, place]));
  const selects = [document.getElementById("one"), document.getElementById("other")];
  for (const select of selects) for (const loss of data.losses) select.add(new Option(loss.label, loss.name));

  function show() {
    const [one, other] = selects.map((select) => places.get(select.value));
    const differ = one !== other;
    document.getElementById("pairs").hidden = !differ;
    const same = document.createElement("li");
    same.textContent = "Choose two different losses.";
    const rows = data.rows.filter((row) => row.main);
    const sentences = rows.map((row) => (differ ? sentenceOf(row, names, one, other, names.length) : null));
    document.getElementById("in-words").replaceChildren(...(differ ? sentences : [same]));
    if (!differ) return;
    const table = document.getElementById("differences");
    table.tBodies[0].replaceChildren(...data.rows.map((row) => rowOf(row, one, other, names.length)));
    for (const heading of table.tHead.rows[0].cells) heading.setAttribute("aria-sort", "none");
    for (const [place, id] of [[one, "name-of-one"], [other, "name-of-other"]])
      (document.querySelector(`#${id} button`) ?? document.getElementById(id)).textContent = names[place];
  }

  function remember() {
    writeAddress(new URLSearchParams([["one", selects[0].value], ["other", selects[1].value]]));
    show();
  }

  function restore() {
    const state = stateInAddress();
    selects.forEach((select, place) => {
      const wanted = state.get(select.id);
      select.value = wanted !== null && places.has(wanted) ? wanted : data.losses[place].name;
    });
    if (selects[0].value === selects[1].value && state.get("other") === null)
      selects[1].value = data.losses[places.get(selects[0].value) === 0 ? 1 : 0].name;
    show();
  }

  for (const select of selects) select.addEventListener("change", remember);
  document.getElementById("swap").addEventListener("click", () => {
    [selects[0].value, selects[1].value] = [selects[1].value, selects[0].value];
    remember();
  });
  window.addEventListener("hashchange", restore);
  section.querySelector(".chosen").hidden = false;
  restore();
}

document.querySelectorAll("#leaderboard").forEach(makeLinkable);
document.querySelectorAll("#comparison").forEach(makeComparison);
