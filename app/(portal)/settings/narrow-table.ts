/**
 * Classes for a table that becomes a list below 900 px instead of scrolling sideways: the first cell is the title of
 * the row, the last cell (the buttons) is next to the title, and the other cells follow with their `data-label`.
 */
export const narrowTable = [
  'max-md:block max-md:[&_tbody]:block max-md:[&_thead]:sr-only',
  'max-md:[&_tr]:grid max-md:[&_tr]:grid-cols-[minmax(0,1fr)_auto] max-md:[&_tr]:items-center max-md:[&_tr]:gap-x-3',
  'max-md:[&_tr]:border-t max-md:[&_tr]:border-line-subtle max-md:[&_tr]:px-4 max-md:[&_tr]:py-2.5',
  'max-md:[&_td]:flex max-md:[&_td]:h-auto max-md:[&_td]:min-h-6 max-md:[&_td]:w-auto max-md:[&_td]:flex-wrap max-md:[&_td]:items-center max-md:[&_td]:gap-x-2',
  'max-md:[&_td]:col-span-full max-md:[&_td]:border-b-0 max-md:[&_td]:px-0 max-md:[&_td]:text-start max-md:[&_td]:whitespace-normal',
  'max-md:[&_td:first-child]:col-span-1 max-md:[&_td:first-child]:ps-0! max-md:[&_td:last-child]:col-span-1 max-md:[&_td:last-child]:pe-0! max-md:[&_td:last-child]:col-start-2 max-md:[&_td:last-child]:row-start-1',
  'max-md:[&_td[data-label]]:flex-nowrap max-md:[&_td[data-label]]:before:w-28 max-md:[&_td[data-label]]:before:shrink-0 max-md:[&_td[data-label]]:before:text-12 max-md:[&_td[data-label]]:before:text-ink-3 max-md:[&_td[data-label]]:before:content-[attr(data-label)]',
  'max-md:[&_td:empty]:hidden',
].join(' ');
