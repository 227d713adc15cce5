/** Binary units, as the documentation writes them; `Intl` has none. */
export const byteUnits = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** 1536 → "1.5 KiB", in steps of 1,024 and with the number as the language writes it. */
export function formatByteSize(language: string, bytes: number): string {
  if (Math.abs(bytes) < 1024) {
    // A short "byte" stays singular in English.
    return new Intl.NumberFormat(language, { style: 'unit', unit: 'byte', unitDisplay: 'long' }).format(bytes);
  }
  const step = Math.min(byteUnits.length, Math.floor(Math.log2(Math.abs(bytes)) / 10));
  const amount = new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(bytes / 1024 ** step);
  return `${amount} ${byteUnits[step - 1]}`;
}
