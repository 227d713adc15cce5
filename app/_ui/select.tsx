import { ChevronsUpDown } from 'lucide-react';
import type { ComponentProps } from 'react';
import { cn } from './cn.ts';

export interface SelectOption {
  value: string;
  label: string;
  disabled?: boolean;
  /** The language of the label, if it differs from the page's. */
  lang?: string;
  /** Whether the label was chosen by a person and is not translated. */
  isName?: boolean;
}

export interface SelectProps extends Omit<ComponentProps<'select'>, 'size'> {
  options: readonly SelectOption[];
  mono?: boolean;
}

/**
 * Chooses one of a few options. A native select works best with keyboard, touch and screen readers, and needs no
 * script. Inside a `Field`, it gets its id, description and error state from the field.
 */
export function Select({ options, mono = false, className, ...props }: SelectProps) {
  return (
    <span className={cn('relative inline-flex w-full min-w-0 items-center', className)}>
      <select
        {...props}
        className={cn(
          'h-8 w-full min-w-0 appearance-none truncate rounded-md bg-surface ps-2.5 pe-7 text-13 text-ink shadow-field outline-none focus-visible:shadow-[inset_0_0_0_1.5px_var(--brand-text),0_0_0_3px_var(--brand-tint)] disabled:bg-sunken disabled:text-ink-3 disabled:shadow-hair aria-invalid:shadow-[inset_0_0_0_1.5px_var(--failed-solid)] pointer-coarse:h-11',
          mono && 'mono',
        )}
      >
        {options.map((option) => (
          <option
            key={option.value}
            value={option.value}
            disabled={option.disabled}
            lang={option.lang}
            translate={option.isName ? 'no' : undefined}
          >
            {option.label}
          </option>
        ))}
      </select>
      <ChevronsUpDown aria-hidden className="pointer-events-none absolute end-2.5 size-3.5 text-ink-2" />
    </span>
  );
}
