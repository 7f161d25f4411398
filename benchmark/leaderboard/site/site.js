
// The leaderboard's site: the address says which view is shown, so that any view can be linked to; curves; the page that
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

// Curves: the target logit and the gradient of one or two losses in one picture for each dataset

const BOX = { width: 460, height: 270, left: 46, right: 8, top: 8, bottom: 40 };
const SERIES = ["one", "other"];

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function ticks(low, high) {
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough);
  const found = [];
  for (let place = Math.ceil(low / step); place * step <= high; place += 1) found.push(place * step);
  return found;
}

function tickText(value) {
  return String(Number(value.toPrecision(6))).replace("-", "−");
}

function ends(values) {
  const low = Math.min(0, ...values), high = Math.max(0, ...values), room = 0.04 * (high - low) || 0.5;
  return [low - room, high + room];
}

function inWords(title, series) {
  const said = series.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    return `${label} goes from ${shown(known[0], 1)} at 0° to ${shown(known[known.length - 1], 1)} at 180°, `
      + `and is at most ${shown(Math.max(...known), 1)}`;
  });
  return `${title}, over the angle: ${said.join("; ")}.`;
}

function picture(angles, series, title) {
  const { width, height, left, right, top, bottom } = BOX;
  const [low, high] = ends(series.flatMap(({ values }) => values.filter((value) => value !== null)));
  const x = (angle) => left + ((width - left - right) * angle) / 180;
  const y = (value) => top + ((height - top - bottom) * (high - value)) / (high - low);
  const made = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": inWords(title, series) });
  for (const value of ticks(low, high)) {
    const kind = value === 0 ? "zero" : "grid";
    made.append(svg("line", { class: kind, x1: left, x2: width - right, y1: y(value), y2: y(value) }));
    made.append(svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, tickText(value)));
  }
  for (let angle = 0; angle <= 180; angle += 30)
    made.append(svg("text", { x: x(angle), y: height - bottom + 17, "text-anchor": angle < 180 ? "middle" : "end" }, `${angle}°`));
  made.append(svg("text", { x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, "angle θ"));
  for (const { kind, values } of series) {
    const points = angles.map((angle, place) => [angle, values[place]]).filter(([, value]) => value !== null);
    const text = points.map(([angle, value]) => `${x(angle).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    made.append(svg("polyline", { class: kind, points: text }));
  }
  return made;
}

function legend(entries) {
  const made = document.createElement("ul");
  made.className = "legend";
  made.append(...entries.map((entry, place) => {
    const item = document.createElement("li");
    const line = svg("polyline", { class: SERIES[place], points: "0,6 36,6" });
    item.append(svg("svg", { viewBox: "0 0 36 12", "aria-hidden": "true" }, line), entry.label);
    return item;
  }));
  return made;
}

function drawCurves(names) {
  const holder = document.getElementById("curves");
  const stored = document.getElementById("curve-data");
  if (!holder || !stored) return;
  const data = JSON.parse(stored.textContent);
  const entries = names.map((name) => data.entries[name]).filter((entry) => entry !== undefined);
  const datasets = new Set(entries.flatMap((entry) => Object.keys(entry.values)));
  const made = [];
  for (const dataset of datasets) for (const [quantity, title] of Object.entries(data.quantities)) {
    const series = entries.map((entry, place) =>
      ({ kind: SERIES[place], label: entry.label, values: entry.values[dataset]?.[quantity] ?? [] }))
      .filter(({ values }) => values.some((value) => value !== null));
    if (!series.length) continue;
    const left = entries.filter((entry) => !series.some(({ label }) => label === entry.label));
    const figure = document.createElement("figure"), caption = document.createElement("figcaption");
    const why = quantity === "logit" && left.length ? ` (${left.map((entry) => entry.label).join(", ")} has none)` : "";
    caption.textContent = `${dataset}: ${title}${why}`;
    figure.append(caption, picture(data.angles, series, `${dataset}: ${title}`));
    made.push(figure);
  }
  holder.replaceChildren(...(made.length ? [legend(entries), ...made] : []));
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
    cell("td", signed(difference, half, row.decimals), "number", difference),
    cell("td", words, `text ${words === "better" || words === "worse" ? words : ""}`),
    cell("td", p === null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3), "number", p),
    ...[one, other].map((place) => cell("td", withHalf(...row.means[place], row.decimals), "number", row.means[place][0])),
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
    drawCurves([one, other].map((place) => data.losses[place].name));
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
document.querySelectorAll("#curves[data-entries]").forEach((holder) => drawCurves(JSON.parse(holder.dataset.entries)));
