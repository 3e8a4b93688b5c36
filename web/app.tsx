export function App() {
  return <main className="p-8 text-ink">Colloquy</main>;
}
