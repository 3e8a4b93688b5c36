/** In a file of its own, so that `colloquy --version` loads nothing else. */
export const version = "0.1.0";
