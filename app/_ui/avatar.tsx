import { cn } from './cn.ts';

/**
 * A person's initials in a disc. Decorative: the name must be next to it, or in the label of the button that contains
 * it.
 */
export function Avatar({ name, className }: { name: string; className?: string }) {
  const initials = name
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => [...word][0] ?? '');
  const shown = initials.length > 1 ? `${initials[0]}${initials[initials.length - 1]}` : (initials[0] ?? '?');
  return (
    <span
      aria-hidden
      className={cn(
        'inline-grid size-[22px] shrink-0 place-items-center rounded-full bg-press text-[10px] leading-none font-semibold text-ink',
        className,
      )}
    >
      {shown.toUpperCase()}
    </span>
  );
}
