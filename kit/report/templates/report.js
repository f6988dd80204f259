"use strict";
(function () {
  const boxes = Array.from(document.querySelectorAll("figure[data-chart]"));
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // The library is compressed in the page; unpacked, it is the script whose hash the page's policy names. Without it the tables say the same.
  async function library() {
    const bytes = Uint8Array.from(atob(document.getElementById("plotly").textContent), (c) => c.charCodeAt(0));
    const script = document.createElement("script");
    script.textContent = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
    document.head.append(script);
    // Dates as in the text around, whatever the language.
    Plotly.register({ moduleType: "locale", name: "iso", dictionary: {}, format: { year: "%Y", month: "%Y-%m", dayMonth: "%m-%d", dayMonthYear: "%Y-%m-%d" } });
  }

  const config = {
    locale: "iso", displaylogo: false, responsive: false, scrollZoom: false, doubleClick: "reset", showTips: false,
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
  };

  // A figure comes without page colours; they follow the page: light, dark, paper.
  function themed(spec, width) {
    const layout = JSON.parse(JSON.stringify(spec.layout));
    const ink = colour("--soft");
    layout.font = Object.assign({}, layout.font, { color: ink, size: width < 480 ? 11 : 13 });
    delete layout.title;
    // Without its title a chart needs no room above; a legend makes its own.
    const top = (layout.margin || {}).t || 0;
    if (top > 12 && !(layout.annotations || []).some((note) => note.yref === "paper" && note.y > 1)) {
      layout.margin = Object.assign({}, layout.margin, { t: 12 });
      if (layout.height) layout.height -= top - 12;
    }
    for (const note of layout.annotations || []) note.font = Object.assign({}, note.font, { color: ink });
    layout.width = width;
    layout.autosize = false;
    layout.hoverlabel = Object.assign({}, layout.hoverlabel, { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: colour("--ink") } });
    for (const key of Object.keys(layout)) {
      if (/^[xy]axis\d*$/.test(key)) {
        layout[key].gridcolor = colour("--grid");
        layout[key].linecolor = colour("--line");
        layout[key].tickcolor = colour("--line");
        // A finger scrolls the page.
        layout[key].fixedrange = width < 560;
      }
    }
    return layout;
  }

  const wordy = (trace) => trace.type === "heatmap" && Boolean(trace.texttemplate);
  const longest = (trace) => Math.max(0, ...(trace.text || []).flat().map((text) => String(text).length));

  // On a narrow screen the names of lanes and bars go above them and the legend below, so that the width is left to the data.
  function narrowed(layout, data) {
    const axis = layout.yaxis || {};
    const cells = data.filter(wordy);
    for (const trace of cells) {
      trace.ygap = 22;
      trace.textfont = Object.assign({}, trace.textfont, { size: 8 });
      trace.text = trace.text.map((row) => row.map((text) => text.replace(/^✗ [A-Z] /, "✗ ")));
    }
    const margin = layout.margin = Object.assign({}, layout.margin, { r: 30 });
    const lanes = axis.ticktext ? axis.ticktext.map((name, n) => [axis.tickvals[n], name]) : null;
    if (axis.type === "category" || cells.length || lanes) {
      const seen = data.filter((trace) => !trace.yaxis || trace.yaxis === "y").flatMap((trace) => Array.from(trace.y || []));
      const known = Array.from(new Set((axis.categoryarray || []).concat(seen))).filter((name) => name !== null && name !== undefined);
      const names = lanes || known.map((name) => [name, name]);
      Object.assign(axis, { showticklabels: false, automargin: false, ticks: "" });
      margin.l = 10;
      layout.bargap = 0.6;
      layout.height = Math.max(layout.height || 0, 90 + (cells.length ? 44 : 60) * names.length);
      layout.annotations = (layout.annotations || []).concat(names.map(([at, name]) => ({
        x: 0, xref: "paper", xanchor: "left", y: at, yref: "y", yanchor: "bottom", yshift: Math.max(12, Math.round(0.2 * (layout.height - 90) / names.length)), text: name, showarrow: false, font: { size: 11 },
      })));
    }
    const entries = data.filter((trace) => trace.name && trace.showlegend !== false).length;
    if (layout.showlegend !== false && entries > 1) {
      const room = 22 * entries;
      layout.legend = Object.assign({}, layout.legend, { orientation: "h", x: 0, y: 0, yref: "container", yanchor: "bottom" });
      margin.b = (margin.b || 48) + room + 12;
      margin.t = 16;
      layout.height = (layout.height || 380) + room;
    }
    return layout;
  }

  function draw(box, width) {
    const canvas = box.querySelector(".canvas");
    const spec = JSON.parse(box.querySelector("script[type='application/json']").textContent);
    // Flows need their width: on a narrow window their table is shown instead, which says the same.
    const fold = box.querySelector("details");
    const told = !width && fold && box.clientWidth < 560 && spec.data.some((trace) => trace.type === "sankey");
    if (told && !box.classList.contains("told")) fold.open = true;
    box.classList.toggle("told", Boolean(told));
    if (told) {
      box.dataset.drawn = "yes";
      return;
    }
    // Cells with long words in them need theirs too: they scroll.
    const rigid = (trace) => trace.type === "sankey" || (wordy(trace) && longest(trace) > 24);
    if (!spec.data.some(rigid)) box.classList.add("folds");
    const room = width || canvas.clientWidth;
    if (!room) return;
    for (const trace of spec.data) {
      // Words in coloured cells and bars have the colour that is read on these.
      const inside = wordy(trace) || trace.textposition === "inside";
      if ((trace.textfont && !inside) || trace.type === "sankey") trace.textfont = Object.assign({}, trace.textfont, { color: colour("--ink") });
    }
    box.dataset.width = room;
    const layout = themed(spec, room);
    Plotly.react(canvas, spec.data, room < 560 && box.classList.contains("folds") ? narrowed(layout, spec.data) : layout, config).then(() => {
      box.dataset.drawn = "yes";
    });
  }

  const all = (width) => window.Plotly && boxes.forEach((box) => draw(box, width));
  library().then(() => all());

  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => window.Plotly && boxes.forEach((box) => {
      if (box.classList.contains("told") || box.querySelector(".canvas").clientWidth !== Number(box.dataset.width)) draw(box);
    }), 120);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => all());
  // A chart inside a closed <details> has no width until it opens.
  document.querySelectorAll("details").forEach((fold) => fold.addEventListener("toggle", () => {
    if (fold.open && window.Plotly) fold.querySelectorAll("figure[data-chart]:not([data-drawn])").forEach((box) => draw(box));
  }));

  // A link to a place inside a fold opens it.
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let fold = target && target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  }
  window.addEventListener("hashchange", reveal);
  reveal();

  const main = document.querySelector("main");
  document.querySelectorAll("main pre").forEach((box) => {
    const text = box.textContent;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = main.dataset.copy;
    button.addEventListener("click", () => {
      navigator.clipboard.writeText(text).then(() => { button.textContent = main.dataset.copied; });
    });
    box.prepend(button);
  });

  // The contents tell which section one is in.
  const links = new Map(Array.from(document.querySelectorAll("nav a"), (link) => [link.getAttribute("href").slice(1), link]));
  const seen = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
    const current = links.get(entry.target.getAttribute("aria-labelledby"));
    if (current) links.forEach((link) => { link.toggleAttribute("aria-current", link === current); });
  }), { rootMargin: "-20% 0px -75% 0px" });
  document.querySelectorAll("main > section").forEach((section) => seen.observe(section));

  let opened = [];
  window.addEventListener("beforeprint", () => {
    // Lists stay folded on paper: nobody reads hashes there.
    opened = Array.from(document.querySelectorAll("details:not([open]):not(.list)"));
    opened.forEach((fold) => { fold.open = true; });
    all(920);
  });
  window.addEventListener("afterprint", () => {
    opened.forEach((fold) => { fold.open = false; });
    all();
  });
})();
