
document.querySelectorAll(".nomina-view:not([data-ready])").forEach(function (root) {
  "use strict";
  root.dataset.ready = "";
  var data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
  var dims = data.dims, rank = dims.length, values = data.values;
  if (values.length === 0) return;
  var strides = [], stride = 1;
  for (var d = rank - 1; d >= 0; d--) { strides[d] = stride; stride *= dims[d].shown; }
  var at = dims.map(function () { return 0; });
  // The dims of rows and columns, -1 if there is none; the dim of colours is chosen last.
  var order = dims.map(function (_, d) { return d; }).filter(function (d) { return d !== data.colours; });
  if (order.length < Math.min(rank, 2)) order.push(data.colours);
  var columns = order.length > 0 ? order[order.length - 1] : -1, rows = order.length > 1 ? order[order.length - 2] : -1;

  function make(kind, parent, content, name) {
    var element = document.createElement(kind);
    if (content !== undefined) element.textContent = content;
    if (name) element.className = name;
    parent.appendChild(element);
    return element;
  }
  function place(element, left, top) {
    element.style.left = left + "px";
    element.style.top = top + "px";
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

  // Blue below zero, red above it; of one sign, from white to blue. Infinities have colours of their own.
  var INFINITE = { "inf": "rgb(255 190 0)", "-inf": "rgb(0 150 90)" };
  function colour(v) {
    if (Math.abs(v) === Infinity) return INFINITE[v > 0 ? "inf" : "-inf"];
    var both = data.low < 0 && data.high > 0;
    var low = both ? 0 : data.low, high = both ? Math.max(-data.low, data.high) : data.high;
    var part = high > low ? (Math.abs(both ? v : v - low)) / (high - low) : 0;
    var light = Math.round(96 - 46 * Math.min(1, part));
    return "hsl(" + (both && v > 0 ? 12 : 212) + " 75% " + light + "%)";
  }
  function fill(brush, colour, left, top, width, height) {
    brush.fillStyle = colour || stripes(brush);
    brush.fillRect(left, top, width, height);
  }
  // The pattern of NaN: stripes of magenta and black.
  function stripes(brush) {
    var tile = document.createElement("canvas"), side = 6;
    tile.width = tile.height = side;
    var ink = tile.getContext("2d");
    for (var x = 0; x < side; x++) for (var y = 0; y < side; y++) {
      ink.fillStyle = (x + y) % side < side / 2 ? "#f0f" : "#000";
      ink.fillRect(x, y, 1, 1);
    }
    return brush.createPattern(tile, "repeat");
  }

  var controls = make("p", root), grid = make("div", root, undefined, "grid"), figure = make("div", grid, undefined, "figure");
  var legend = make("p", root, undefined, "legend"), tip = make("div", root, undefined, "tip");
  tip.hidden = true;
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
  if (data.colours !== undefined) {
    var picture = make("input", make("label", controls, "true colours "));
    picture.type = "checkbox"; picture.checked = true;
    picture.addEventListener("change", function () { draw(); });
  }
  function isPicture() { return picture && picture.checked && rows !== data.colours && columns !== data.colours; }

  // Indices of dims by the shown position, and the step between labels: 1, 2, 5, 10, … if the sample has these indices.
  function ticks(dim, length, room) {
    var least = Math.max(1, room / length), nice = [], plain = [];
    for (var ten = 1; ten <= dim.size * 10; ten *= 10) [1, 2, 5].forEach(function (digit) {
      var step = digit * ten;
      if (step % dim.step === 0 && step / dim.step >= least) nice.push(step / dim.step);
      if (step >= least) plain.push(step);
    });
    var step = nice.length > 0 && nice[0] * 2 < dim.shown ? nice[0] : plain[0];
    var at = [];
    for (var i = 0; i < dim.shown; i += step) at.push(i);
    return at;
  }
  var pen = document.createElement("canvas").getContext("2d");
  pen.font = "11px ui-monospace, monospace";
  function width(text) { return Math.ceil(pen.measureText(text).width); }
  function widest(texts) { return texts.reduce(function (most, text) { return Math.max(most, width(text)); }, 0); }
  function last(dim) { return String((dim.shown - 1) * dim.step); }
  function title(dim) {
    return dim.step > 1 ? dim.name + " (0, " + dim.step + ", " + 2 * dim.step + ", … of " + dim.size + ")" : dim.name;
  }

  var LARGEST = 80, seen;
  function draw() {
    sliders.forEach(function (of, d) {
      of.label.style.display = d === rows || d === columns || (d === data.colours && isPicture()) ? "none" : "";
      of.label.output.textContent = at[d] * dims[d].step + " of " + dims[d].size;
    });
    var one = { name: "", shown: 1, step: 1, size: 1 };
    var down = rows < 0 ? one : dims[rows], along = columns < 0 ? one : dims[columns];
    function offset(r, c) {
      var from = 0;
      for (var d = 0; d < rank; d++) from += (d === rows ? r : d === columns ? c : at[d]) * strides[d];
      return from;
    }
    function value(r, c) { return values[offset(r, c)]; }
    // The three or four channels of a pixel.
    function channels(r, c) {
      var step = strides[data.colours], from = offset(r, c) - at[data.colours] * step, all = [];
      for (var i = 0; i < dims[data.colours].shown; i++) all.push(values[from + i * step]);
      return all;
    }
    function paint(r, c) {
      if (!isPicture()) {
        var v = size(value(r, c));
        return isNaN(v) ? undefined : colour(v);
      }
      var all = channels(r, c).map(size);
      if (!all.every(isFinite)) return undefined;
      var rgb = all.slice(0, 3).map(function (v) { return Math.round(v * 255 / data.white); });
      return "rgb(" + rgb.join(" ") + (all.length > 3 ? " / " + all[3] / data.white : "") + ")";
    }

    // The room for the grid in the window; cells are as large as it allows.
    seen = root.clientWidth;
    var left = (rows < 0 ? 0 : Math.max(width(last(down)), 8) + 8 + 18) + 4, top = columns < 0 ? 4 : 38;
    var above = grid.getBoundingClientRect().top - root.getBoundingClientRect().top;
    var wide = Math.max(200, (seen || 800) - left - 28), high = Math.max(200, window.innerHeight - above - top - 56);
    var fits = function (n, room) { return Math.max(1, Math.floor(room / n)); };
    var across = fits(along.shown, wide), tall = fits(down.shown, high);
    var texts = null, w, h;
    if (!isPicture() && along.shown * down.shown <= 2048 && across >= 14 && tall >= 16) {
      texts = [];
      for (var r = 0; r < down.shown; r++) for (var c = 0; c < along.shown; c++) texts.push(short(value(r, c)));
      var text = widest(texts) + 8;
      if (text > across) texts = null;
    }
    if (texts) {
      w = Math.min(across, Math.max(text, LARGEST));
      h = Math.min(tall, Math.max(16, Math.min(w, LARGEST)));
    } else {
      // Squares, except where a short dim would be a thin strip.
      var side = Math.min(across, tall, LARGEST), strip = function (n, room) { return Math.min(room, 24, fits(n, 96)); };
      w = Math.max(side, isPicture() ? 0 : strip(along.shown, across));
      h = Math.max(side, isPicture() ? 0 : strip(down.shown, tall));
    }

    figure.textContent = "";
    tip.hidden = true;
    var cells = place(make("canvas", figure), left, top), brush = cells.getContext("2d");
    cells.width = along.shown * w;
    cells.height = down.shown * h;
    figure.style.width = left + cells.width + 24 + "px";
    figure.style.height = top + cells.height + 4 + "px";
    for (r = 0; r < down.shown; r++) for (c = 0; c < along.shown; c++) {
      fill(brush, paint(r, c), c * w, r * h, w, h);
      if (texts) {
        var of = texts[r * along.shown + c], cell = make("span", figure, of, "cell");
        if (isNaN(size(value(r, c)))) cell.classList.add("nan");
        place(cell, left + (c + 0.5) * w, top + (r + 0.5) * h);
      }
    }
    if (columns >= 0) {
      place(make("span", figure, title(along), "axis"), left, 0);
      ticks(along, w, width(last(along)) + 10).forEach(function (c) {
        place(make("span", figure, c * along.step, "tick column"), left + (c + 0.5) * w, top - 20);
      });
    }
    if (rows >= 0) {
      // Written upwards at the left edge.
      var name = place(make("span", figure, title(down), "axis"), 0, top);
      name.style.writingMode = "vertical-rl";
      name.style.transform = "rotate(180deg)";
      if (name.offsetHeight > cells.height) figure.style.height = top + name.offsetHeight + 4 + "px";
      ticks(down, h, 16).forEach(function (r) {
        var tick = place(make("span", figure, r * down.step, "tick row"), 0, top + (r + 0.5) * h);
        tick.style.left = left - 8 - tick.offsetWidth + "px";
      });
    }

    var mark = make("div", figure, undefined, "mark");
    mark.hidden = true;
    mark.style.width = w + "px";
    mark.style.height = h + "px";
    cells.addEventListener("pointerleave", function () { tip.hidden = mark.hidden = true; });
    cells.addEventListener("pointermove", function (event) {
      var box = cells.getBoundingClientRect();
      var c = Math.floor((event.clientX - box.left) / w), r = Math.floor((event.clientY - box.top) / h);
      if (c < 0 || r < 0 || c >= along.shown || r >= down.shown) return;
      var named = dims.map(function (dim, d) {
        return dim.name + "=" + (d === data.colours && isPicture() ? ".." : (d === rows ? r : d === columns ? c : at[d]) * dim.step);
      });
      var text = isPicture() ? "(" + channels(r, c).map(shown).join(", ") + ")" : shown(value(r, c));
      tip.textContent = named.join(", ") + (rank > 0 ? ": " : "") + text;
      tip.hidden = mark.hidden = false;
      place(mark, left + c * w, top + r * h);
      // To the left of the pointer, or above it, if the window ends.
      var x = event.clientX + 14, y = event.clientY + 14;
      if (x + tip.offsetWidth > document.documentElement.clientWidth) x = event.clientX - 14 - tip.offsetWidth;
      if (y + tip.offsetHeight > window.innerHeight) y = event.clientY - 14 - tip.offsetHeight;
      place(tip, Math.max(0, x), Math.max(0, y));
    });
    explain();
  }

  // The colour bar with its ends, and the colours of NaN and infinities if there are any.
  function explain() {
    legend.textContent = "";
    var bar = function (length, paint) {
      var canvas = make("canvas", legend), brush = canvas.getContext("2d");
      canvas.width = length;
      canvas.height = 12;
      for (var x = 0; x < length; x++) fill(brush, paint(length > 1 ? x / (length - 1) : 0), x, 0, 1, 12);
    };
    var end = function (v) {
      var bool = typeof values[0] === "boolean";
      make("span", legend, bool ? shown(v === 1) : String(Number(v.toPrecision(6))));
    };
    if (isPicture()) {
      make("span", legend, "true colours: 0 is dark, " + data.white + " is bright");
    } else if (data.low === data.high) {
      bar(16, function () { return colour(data.low); });
      end(data.low);
    } else {
      end(data.low);
      bar(200, function (t) { return colour(data.low * (1 - t) + data.high * t); });
      end(data.high);
      if (data.low < 0 && data.high > 0) make("span", legend, "(0 is white)");
    }
    var found = {};
    values.forEach(function (value) {
      var v = size(value);
      if (!isFinite(v)) found[isNaN(v) ? "nan" : v > 0 ? "inf" : "-inf"] = true;
    });
    ["nan", "inf", "-inf"].forEach(function (kind) {
      if (!found[kind]) return;
      make("span", legend, "", "other");
      bar(16, function () { return isPicture() ? undefined : INFINITE[kind]; });
      make("span", legend, kind);
    });
    var numel = dims.reduce(function (n, dim) { return n * dim.size; }, 1);
    if (numel > values.length) make("span", legend, "sample: " + values.length + " of " + numel + " elements", "other");
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
  root.querySelector("pre").hidden = true;
  draw();
  // Not for the width of a scroll bar, which a larger grid may bring.
  new ResizeObserver(function () { if (Math.abs(root.clientWidth - seen) > 24) draw(); }).observe(root);
});
