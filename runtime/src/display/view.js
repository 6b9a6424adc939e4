
document.querySelectorAll(".nomina-view:not([data-ready])").forEach(function (root) {
  "use strict";
  root.dataset.ready = "";
  var data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
  var dims = data.dims, rank = dims.length, values = data.values;
  if (values.length === 0) return;
  var text = root.querySelector("pre");
  var strides = [], stride = 1;
  for (var d = rank - 1; d >= 0; d--) { strides[d] = stride; stride *= dims[d].shown; }
  var at = dims.map(function () { return 0; });
  var rows = rank - 2, columns = rank - 1;

  function make(kind, parent, content) {
    var element = document.createElement(kind);
    if (content !== undefined) element.textContent = content;
    parent.appendChild(element);
    return element;
  }

  // An element: a number, a truth value, a text, or a text and its size.
  function shown(value) {
    if (value === true) return "True";
    if (value === false) return "False";
    return String(Array.isArray(value) ? value[0] : value);
  }
  function size(value) {
    if (Array.isArray(value)) return value[1];
    if (typeof value !== "string") return Number(value);
    if (value.includes("nan")) return NaN;
    return value.startsWith("-") ? -Infinity : Infinity;
  }
  function short(value) {
    var precise = typeof value === "number" && !Number.isInteger(value);
    return precise ? String(Number(value.toPrecision(5))) : shown(value);
  }

  // Blue below zero, red above it; of one sign, from white to blue.
  function colour(v) {
    var both = data.low < 0 && data.high > 0;
    var low = both ? 0 : data.low, high = both ? Math.max(-data.low, data.high) : data.high;
    var part = high > low ? (Math.abs(both ? v : v - low)) / (high - low) : 0;
    var light = Math.round(96 - 46 * Math.min(1, part));
    return "hsl(" + (both && v > 0 ? 12 : 212) + " 75% " + light + "%)";
  }

  var controls = make("p", root), grid = make("div", root);
  grid.className = "grid";
  var sliders = dims.map(function (dim, d) {
    var label = make("label", controls, dim.name + " ");
    var slider = make("input", label);
    slider.type = "range"; slider.min = 0; slider.max = dim.shown - 1; slider.value = 0;
    slider.dataset.dim = dim.name;
    label.output = make("output", label);
    slider.addEventListener("input", function () { at[d] = Number(slider.value); draw(); });
    return { label: label, slider: slider };
  });
  function choice(title, chosen, choose) {
    var label = make("label", controls, title + " "), select = make("select", label);
    dims.forEach(function (dim, d) { make("option", select, dim.name).value = d; });
    select.value = chosen;
    select.addEventListener("change", function () { choose(Number(select.value)); draw(); });
    return select;
  }
  if (rank > 2) {
    var other = function (old, now, taken) { return now === taken ? old : taken; };
    var ofRows = choice("rows", rows, function (d) { columns = other(rows, d, columns); rows = d; ofColumns.value = columns; });
    var ofColumns = choice("columns", columns, function (d) { rows = other(columns, d, rows); columns = d; ofRows.value = rows; });
  }

  function draw() {
    sliders.forEach(function (of, d) {
      of.label.style.display = d === rows || d === columns ? "none" : "";
      of.label.output.textContent = at[d] * dims[d].step + " of " + dims[d].size;
    });
    var one = { name: "", shown: 1, step: 1 };
    var down = rows < 0 ? one : dims[rows], along = columns < 0 ? one : dims[columns];
    grid.textContent = "";
    var table = make("table", grid), head = make("tr", table);
    var small = along.shown > 24 || down.shown > 64;
    table.className = small ? "small" : "";
    make("th", head, down.name + (down.name && along.name ? " \\ " : "") + along.name);
    for (var c = 0; c < along.shown; c++) make("th", head, small && c % 10 ? "" : c * along.step);
    var from = 0;
    for (var d = 0; d < rank; d++) if (d !== rows && d !== columns) from += at[d] * strides[d];
    for (var r = 0; r < down.shown; r++) {
      var line = make("tr", table);
      make("th", line, rows < 0 || (small && r % 10) ? "" : r * down.step);
      for (c = 0; c < along.shown; c++) {
        var value = values[from + (rows < 0 ? 0 : r * strides[rows]) + (columns < 0 ? 0 : c * strides[columns])];
        var cell = make("td", line, small ? undefined : short(value)), v = size(value);
        if (isNaN(v)) cell.className = "nan";
        else cell.style.background = colour(v);
        var place = dims.map(function (dim, d) {
          return dim.name + "=" + (d === rows ? r : d === columns ? c : at[d]) * dim.step;
        });
        cell.title = place.join(", ") + ": " + shown(value);
      }
    }
  }

  // `#slice=Time:3` moves a slider, as a hand would.
  new URLSearchParams(location.hash.slice(1)).getAll("slice").forEach(function (slice) {
    var colon = slice.lastIndexOf(":");
    sliders.forEach(function (of, d) {
      if (dims[d].name !== slice.slice(0, colon)) return;
      of.slider.value = Math.round(Number(slice.slice(colon + 1)) / dims[d].step);
      of.slider.dispatchEvent(new Event("input"));
    });
  });
  text.hidden = true;
  draw();
});
