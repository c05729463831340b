"use strict";
(function () {
  var space = "http://www.w3.org/2000/svg";

  function readCurve(figure) {
    var data = JSON.parse(figure.dataset.curve), out = document.createElement("p");
    out.className = "readout sans";
    out.setAttribute("role", "status");
    out.textContent = "Point at the curve to read a proved (epsilon, delta).";
    figure.insertBefore(out, figure.querySelector("figcaption"));
    figure.querySelectorAll("svg.figure").forEach(function (svg) {
      var box = svg.viewBox.baseVal, left = 64, right = box.width - 16, top = 16, bottom = box.height - 50;
      var dot = document.createElementNS(space, "circle");
      dot.setAttribute("r", "4.5");
      dot.setAttribute("class", "proved");
      dot.setAttribute("visibility", "hidden");
      svg.appendChild(dot);
      svg.addEventListener("pointermove", function (event) {
        var frame = svg.getBoundingClientRect();
        var x = (event.clientX - frame.left) * box.width / frame.width;
        var wanted = (x - left) / (right - left) * data.reach;
        var point = data.points.reduce(function (best, next) {
          return Math.abs(next[0] - wanted) < Math.abs(best[0] - wanted) ? next : best;
        });
        dot.setAttribute("cx", left + point[0] / data.reach * (right - left));
        dot.setAttribute("cy", top + Math.min(1, Math.max(0, point[1])) * (bottom - top));
        dot.setAttribute("visibility", "visible");
        out.textContent = "epsilon " + point[2] + ", delta at most " + point[3];
      });
    });
  }

  function follow(nav) {
    var links = {};
    nav.querySelectorAll("a").forEach(function (link) { links[link.hash.slice(1)] = link; });
    document.body.classList.add("follows");
    var seen = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) {
        if (!entry.isIntersecting) { return; }
        Object.keys(links).forEach(function (name) { links[name].removeAttribute("aria-current"); });
        links[entry.target.id].setAttribute("aria-current", "true");
      });
    }, { rootMargin: "-10% 0px -80% 0px" });
    Object.keys(links).forEach(function (name) { seen.observe(document.getElementById(name)); });
  }

  document.querySelectorAll("figure[data-curve]").forEach(readCurve);
  document.querySelectorAll("nav").forEach(follow);
}());
