import yauzl from 'yauzl';
import type { PlacedEntry } from './placed-entry.ts';

/**
 * Reads the directory again with yauzl, which the reference agent uses to unpack packages. A package is accepted only
 * if both readers see the same names and sizes.
 */
export function confirmWithYauzl(fd: number, placed: readonly PlacedEntry[]): Promise<boolean> {
  return new Promise((resolve) => {
    yauzl.fromFd(fd, { lazyEntries: true, autoClose: false, strictFileNames: true }, (error, zip) => {
      if (error) return resolve(false);
      let index = 0;
      zip.on('entry', (entry: yauzl.Entry) => {
        const mine = placed[index++];
        const same = mine?.name === entry.fileName && mine.entry.unpacked === entry.uncompressedSize;
        if (same && mine.entry.packed === entry.compressedSize) zip.readEntry();
        else resolve(false);
      });
      zip.once('end', () => resolve(index === placed.length));
      zip.once('error', () => resolve(false));
      zip.readEntry();
    });
  });
}
