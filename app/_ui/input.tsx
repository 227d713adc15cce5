import { Search } from 'lucide-react';
import type { ComponentProps, KeyboardEvent, ReactNode } from 'react';
import { enterRows, openOnlyMatch } from '#app/_lib/searched-rows.ts';
import { cn } from './cn.ts';
import { Kbd } from './kbd.tsx';

const frame =
  'flex w-full min-w-0 items-center gap-1.5 rounded-md bg-surface px-2.5 text-13 text-ink shadow-field transition-shadow duration-(--d-1) has-[:focus-visible]:shadow-[inset_0_0_0_1.5px_var(--brand-text),0_0_0_3px_var(--brand-tint)] has-[:disabled]:bg-sunken has-[:disabled]:text-ink-3 has-[:disabled]:shadow-hair has-[[aria-invalid=true]]:shadow-[inset_0_0_0_1.5px_var(--failed-solid)]';

const bare =
  'w-full min-w-0 bg-transparent p-0 outline-none placeholder:text-ink-3 focus-visible:shadow-none disabled:cursor-default';

export interface InputProps extends ComponentProps<'input'> {
  /** For text that programs read, such as ids, paths and hosts. */
  mono?: boolean;
  /** Shown inside the field before the text, such as an icon. */
  before?: ReactNode;
  /** Shown inside the field after the text, such as a unit or a key. */
  after?: ReactNode;
}

/** A single line of text. Inside a `Field`, it gets its id, description and error state from the field. */
export function Input({ mono = false, before, after, className, ...props }: InputProps) {
  return (
    <span className={cn(frame, 'h-8 pointer-coarse:h-11', className)}>
      {before}
      <input {...props} className={cn(bare, mono && 'mono')} />
      {after === undefined ? null : <span className="shrink-0 text-12 text-ink-3">{after}</span>}
    </span>
  );
}

export interface TextareaProps extends ComponentProps<'textarea'> {
  mono?: boolean;
}

/** A text area of at least `rows` lines. Grows with its contents if the browser supports that. */
export function Textarea({ mono = false, className, rows = 3, ...props }: TextareaProps) {
  return (
    // Aligned to the top, because overflowing centered content cannot be scrolled to.
    <span className={cn(frame, 'items-start py-1.5', className)}>
      <textarea
        rows={rows}
        {...props}
        style={{ minHeight: `${rows}lh` }}
        className={cn(bare, 'field-sizing-content resize-none', mono && 'mono')}
      />
    </span>
  );
}

export interface SearchInputProps extends Omit<InputProps, 'type' | 'before' | 'after' | 'mono'> {
  /** The field's accessible name. */
  label: string;
}

/** Handles the keys that leave the search field: Escape keeps the text, ↓ enters the list, Enter opens a single match. */
function leaveSearch(event: KeyboardEvent<HTMLInputElement>): void {
  const field = event.currentTarget;
  // While an input method composes text, these keys belong to the input method.
  if (event.nativeEvent.isComposing) return;
  if (event.key === 'Escape') {
    // By default, browsers clear the field on Escape.
    event.preventDefault();
    field.blur();
  } else if (event.key === 'ArrowDown' && enterRows()) {
    event.preventDefault();
    field.blur();
  } else if (event.key === 'Enter') openOnlyMatch(field.value);
}

/** The search field of a page. A page has at most one search field, and `/` focuses it. */
export function SearchInput({ label, className, ...props }: SearchInputProps) {
  return (
    <Input
      type="search"
      onKeyDown={leaveSearch}
      aria-label={label}
      placeholder={label}
      data-page-search=""
      autoComplete="off"
      spellCheck={false}
      {...props}
      className={cn('w-[250px] max-w-full', className)}
      before={<Search aria-hidden className="size-3.5 shrink-0 text-ink-2" />}
      after={<Kbd>/</Kbd>}
    />
  );
}
