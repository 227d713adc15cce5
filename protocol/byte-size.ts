/** Binary units as the documentation spells them. `Intl` has no binary units. */
export const byteUnits = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Formats a size in steps of 1,024, with the number formatted for the language: 1536 → "1.5 KiB". */
export function formatByteSize(language: string, bytes: number): string {
  if (Math.abs(bytes) < 1024) {
    // The short form of "byte" has no plural in English.
    return new Intl.NumberFormat(language, { style: 'unit', unit: 'byte', unitDisplay: 'long' }).format(bytes);
  }
  const step = Math.min(byteUnits.length, Math.floor(Math.log2(Math.abs(bytes)) / 10));
  const amount = new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(bytes / 1024 ** step);
  return `${amount} ${byteUnits[step - 1]}`;
}
