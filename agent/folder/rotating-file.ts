import { appendFileSync, renameSync, rmSync, statSync } from 'node:fs';

/**
 * Opens a log of limited size. At `maxBytes`, the file is renamed to `<path>.1`, the previous `<path>.1` to `<path>.2`,
 * and so on; at most `kept` such files exist. A line that cannot be written, for example to a full disk, is lost: a log
 * must not stop the agent.
 */
export function rotatingFile(path: string, maxBytes: number, kept: number): { write(text: string): void } {
  let bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return {
    write(text) {
      try {
        const added = Buffer.byteLength(text);
        if (bytes > 0 && bytes + added > maxBytes) {
          putAside(path, kept);
          bytes = 0;
        }
        appendFileSync(path, text, { mode: 0o600 });
        bytes += added;
      } catch {
        // The disk may have space for the next line.
      }
    },
  };
}

function putAside(path: string, kept: number): void {
  for (let number = kept; number > 0; number -= 1) {
    const from = number === 1 ? path : `${path}.${number - 1}`;
    if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, `${path}.${number}`);
  }
  if (kept === 0) rmSync(path, { force: true });
}
