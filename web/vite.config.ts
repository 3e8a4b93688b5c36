import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  // Below whatever path the server stands; index.html names it.
  base: "./",
  plugins: [react(), tailwind()],
  logLevel: "warn",
  build: {
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Told by the page's own test, in what really goes over the wire.
    chunkSizeWarningLimit: 2000,
  },
});
