/** Outlines, within a frame, the elements that the page around it names by their selectors. */
addEventListener("message", ({ data }) => {
  if (!Array.isArray(data?.point)) return;
  for (const one of document.querySelectorAll("[data-pointed]")) delete one.dataset.pointed;
  for (const selector of data.point) {
    const element = document.querySelector(selector);
    if (element) element.dataset.pointed = "";
  }
});
const style = document.createElement("style");
style.textContent = "[data-pointed] { outline: 3px solid #d92d20 !important; outline-offset: 2px; }";
document.head.append(style);
