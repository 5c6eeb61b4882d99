import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Widget } from "./Widget";

const url = new URL(location).searchParams;
const args = { project: "Glasshouse", title: "Order glass" };

function Page() {
  const [said, say] = useState(""), [theme, setTheme] = useState(url.get("theme") ?? "light");
  return (
    <>
      <button onClick={() => setTheme(theme === "light" ? "dark" : "light")}>Theme</button>
      <Widget server={url.get("server") ?? "http://127.0.0.1:8787/mcp"} name="create_task" args={args}
        theme={theme} locale={url.get("locale") ?? "en-US"} onAction={(action) => say(JSON.stringify(action))} />
      <output>{said}</output>
    </>
  );
}

createRoot(document.getElementById("root")).render(<Page />);
