/** Style variables as hosts send them, by host and theme; the gallery draws widgets in them. */

const palette = (fonts, light, dark) => ({ light: variables(fonts, light), dark: variables(fonts, dark) });

const variables = (fonts, [background, raised, text, muted, border, accent, onAccent]) => ({
  "--font-sans": fonts,
  "--color-background-primary": background,
  "--color-background-secondary": raised,
  "--color-text-primary": text,
  "--color-text-secondary": muted,
  "--color-border-primary": border,
  "--color-background-inverse": accent,
  "--color-text-inverse": onAccent,
  "--color-ring-primary": accent,
});

export const PALETTES = {
  "VS Code": palette(
    "Segoe WPC, Segoe UI, sans-serif",
    ["#ffffff", "#f8f8f8", "#3b3b3b", "#616161", "#e5e5e5", "#005fb8", "#ffffff"],
    ["#1f1f1f", "#181818", "#cccccc", "#9d9d9d", "#2b2b2b", "#0078d4", "#ffffff"],
  ),
  Claude: palette(
    "Georgia, serif",
    ["#faf9f5", "#f0eee6", "#141413", "#5e5d59", "#dedcd1", "#141413", "#faf9f5"],
    ["#262624", "#30302e", "#faf9f5", "#c2c0b6", "#4d4c48", "#faf9f5", "#141413"],
  ),
  ChatGPT: palette(
    "ui-sans-serif, system-ui, sans-serif",
    ["#ffffff", "#f9f9f9", "#0d0d0d", "#5d5d5d", "#e5e5e5", "#0d0d0d", "#ffffff"],
    ["#212121", "#303030", "#ffffff", "#cdcdcd", "#444444", "#ffffff", "#0d0d0d"],
  ),
  "High contrast": palette(
    "system-ui, sans-serif",
    ["#ffffff", "#ffffff", "#000000", "#000000", "#0f4a85", "#0f4a85", "#ffffff"],
    ["#000000", "#000000", "#ffffff", "#ffffff", "#6fc3df", "#f38518", "#000000"],
  ),
};
