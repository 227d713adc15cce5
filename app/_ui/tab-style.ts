/** Classes shared by `TabLinks` and the quick views of the VM list. */
export const tabBar =
  'mb-5 flex gap-5 overflow-x-auto border-b border-line-subtle [scrollbar-width:none] max-sm:-mx-(--gutter) max-sm:mb-4 max-sm:gap-[18px] max-sm:px-(--gutter)';
export const tab =
  'inline-flex h-9 shrink-0 items-center gap-1.5 border-b-2 border-transparent text-ink-2 whitespace-nowrap hover:text-ink focus-visible:shadow-[inset_0_0_0_2px_var(--brand-text)] pointer-coarse:h-11';

/** Use as `ref` of the current tab: keeps it in view if the bar is or becomes too narrow for all tabs. */
export function scrollIntoBar(current: HTMLElement | null): (() => void) | undefined {
  const bar = current?.parentElement;
  if (!current || !bar) return;
  const observer = new ResizeObserver(() => scrollWithin(bar, current));
  observer.observe(bar);
  return () => observer.disconnect();
}

function scrollWithin(bar: HTMLElement, current: HTMLElement): void {
  const [inside, around] = [current.getBoundingClientRect(), bar.getBoundingClientRect()];
  if (inside.left >= around.left && inside.right <= around.right) return;
  bar.scrollLeft += (inside.left + inside.right - around.left - around.right) / 2;
}
