// Measures the page: appended by `browser.rs`, which sets `sizes` and `points`.
addEventListener("load", function () {
  var canvas = document.querySelector(".figure canvas"), box = canvas.getBoundingClientRect();
  var w = canvas.width / sizes[1], h = canvas.height / sizes[0];
  function rect(element) {
    var at = element.getBoundingClientRect();
    return {
      text: element.textContent, left: at.left - box.left, right: at.right - box.left,
      top: at.top - box.top, bottom: at.bottom - box.top,
    };
  }
  function all(selector) { return Array.from(document.querySelectorAll(selector), rect); }
  function pixel(canvas, x, y) {
    return Array.from(canvas.getContext("2d").getImageData(x, y, 1, 1).data.slice(0, 3));
  }
  var tip = document.querySelector(".tip");
  var cells = points.map(function (at) {
    var x = (at[1] + 0.5) * w, y = (at[0] + 0.5) * h;
    canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + x, clientY: box.top + y }));
    return { pixel: pixel(canvas, x, y), tip: tip.hidden ? null : rect(tip), mark: rect(document.querySelector(".mark")) };
  });
  canvas.dispatchEvent(new PointerEvent("pointerleave"));
  var report = {
    canvas: { left: box.left, top: box.top, width: canvas.width, height: canvas.height, shown: [box.width, box.height] },
    window: [document.documentElement.clientWidth, innerHeight], scroll: document.querySelector(".grid").scrollWidth - document.querySelector(".grid").clientWidth,
    columns: all(".tick.column"), rows: all(".tick.row"), axes: all(".axis"), values: all(".cell"), cells: cells,
    hidden: tip.hidden, controls: all(".nomina-view label").filter(function (label) { return label.right > label.left; }),
    legend: document.querySelector(".legend").textContent,
    swatches: Array.from(document.querySelectorAll(".legend canvas"), function (canvas) {
      return [pixel(canvas, 0, 6), pixel(canvas, canvas.width - 1, 6)];
    }),
  };
  var out = document.createElement("pre");
  out.id = "report";
  out.hidden = true;
  out.textContent = JSON.stringify(report);
  document.body.appendChild(out);
});
