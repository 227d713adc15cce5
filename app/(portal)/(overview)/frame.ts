/** Grid classes for the map and the cards to its right; on narrow pages, the cards are below the map. */
export const gridClass = 'mt-4 grid grid-cols-[minmax(0,1fr)_352px] items-start gap-4 max-lg:grid-cols-1';
export const asideClass = 'grid min-w-0 content-start gap-4 max-lg:grid-cols-2 max-lg:items-start max-md:grid-cols-1';

/** Returns the classes that reserve height for a map of this many VMs, so that nothing moves when the map is drawn. */
export function mapHeight(vms: number): string {
  if (vms <= 12) return 'min-h-12 max-sm:min-h-24';
  if (vms <= 60) return 'min-h-24 max-sm:min-h-40';
  if (vms <= 600) return 'min-h-40 max-sm:min-h-64';
  if (vms <= 3_000) return 'min-h-64 max-sm:min-h-96';
  return 'min-h-[max(22.5rem,calc(100dvh-31rem))] max-sm:min-h-[35rem]';
}
