"use strict";
(function () {
  const box = document.getElementById("search");
  const shown = document.getElementById("shown");
  const cards = Array.from(document.querySelectorAll(".incidents > li"));
  const texts = cards.map((card) => (card.textContent + " " + card.dataset.words).toLowerCase());
  function search() {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    cards.forEach((card, n) => {
      card.hidden = !words.every((word) => texts[n].includes(word));
      count += card.hidden ? 0 : 1;
    });
    shown.textContent = count;
  }
  box.closest("form").addEventListener("submit", (event) => event.preventDefault());
  box.addEventListener("input", search);
  search();
})();
