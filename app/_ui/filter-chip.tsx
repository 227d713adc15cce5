import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { cn } from './cn.ts';

export interface FilterChipProps {
  field: ReactNode;
  relation: ReactNode;
  value: ReactNode;
  onRemove(): void;
  /** Accessible name of the remove button, such as "Remove filter env is prod". */
  removeLabel: string;
}

/** An active filter: its field, relation and value, and a button that removes it. */
export function FilterChip({ field, relation, value, onRemove, removeLabel }: FilterChipProps) {
  const part = 'flex items-center px-[7px] whitespace-nowrap';
  return (
    <span className="inline-flex h-[26px] max-w-full min-w-0 items-stretch divide-x divide-line-subtle overflow-hidden rounded-md bg-surface text-12 shadow-hair pointer-coarse:h-9 rtl:divide-x-reverse">
      <span className={cn(part, 'shrink-0 text-ink-2')}>
        <span className="max-w-40 truncate" title={typeof field === 'string' ? field : undefined}>
          {field}
        </span>
      </span>
      <span className={cn(part, 'text-ink-3')}>{relation}</span>
      <span className={cn(part, 'min-w-0 font-medium')}>
        <span className="max-w-64 truncate" title={typeof value === 'string' ? value : undefined}>
          {value}
        </span>
      </span>
      <button
        type="button"
        aria-label={removeLabel}
        title={removeLabel}
        onClick={onRemove}
        className="shrink-0 px-1.5 text-ink-3 disabled:hidden hover:bg-hover hover:text-ink focus-visible:shadow-[inset_0_0_0_2px_var(--brand-text)] pointer-coarse:px-2.5"
      >
        <X aria-hidden className="size-3" />
      </button>
    </span>
  );
}
