import { Num } from '#app/_ui/num.tsx';

export const itemClass =
  'flex min-h-7 w-full items-center gap-2 rounded-sm px-2 py-1 text-start text-13 hover:bg-hover pointer-coarse:min-h-(--touch)';

export function Count({ value }: { value: number }) {
  return (
    <span className="ms-auto ps-2 text-12 text-ink-3 tabular-nums">
      <Num value={value} />
    </span>
  );
}
