/**
 * A table that becomes a list of its rows below 720 px, where it would have to be scrolled sideways: the first cell is
 * the row's title, the last one (its acts) stands beside it, and the others follow with their `data-label`.
 */
export const narrowTable = [
  'max-sm:block max-sm:[&_tbody]:block max-sm:[&_thead]:sr-only',
  'max-sm:[&_tr]:grid max-sm:[&_tr]:grid-cols-[minmax(0,1fr)_auto] max-sm:[&_tr]:items-center max-sm:[&_tr]:gap-x-3',
  'max-sm:[&_tr]:border-t max-sm:[&_tr]:border-line-subtle max-sm:[&_tr]:px-4 max-sm:[&_tr]:py-2.5',
  'max-sm:[&_td]:flex max-sm:[&_td]:h-auto max-sm:[&_td]:min-h-6 max-sm:[&_td]:w-auto max-sm:[&_td]:flex-wrap max-sm:[&_td]:items-center max-sm:[&_td]:gap-x-2',
  'max-sm:[&_td]:col-span-full max-sm:[&_td]:border-b-0 max-sm:[&_td]:px-0 max-sm:[&_td]:text-start max-sm:[&_td]:whitespace-normal',
  'max-sm:[&_td:first-child]:col-span-1 max-sm:[&_td:first-child]:ps-0! max-sm:[&_td:last-child]:col-span-1 max-sm:[&_td:last-child]:pe-0! max-sm:[&_td:last-child]:col-start-2 max-sm:[&_td:last-child]:row-start-1',
  'max-sm:[&_td[data-label]]:flex-nowrap max-sm:[&_td[data-label]]:before:w-28 max-sm:[&_td[data-label]]:before:shrink-0 max-sm:[&_td[data-label]]:before:text-12 max-sm:[&_td[data-label]]:before:text-ink-3 max-sm:[&_td[data-label]]:before:content-[attr(data-label)]',
  'max-sm:[&_td:empty]:hidden',
].join(' ');
