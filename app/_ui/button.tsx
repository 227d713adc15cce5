import { cva, type VariantProps } from 'class-variance-authority';
import { Slot } from 'radix-ui/slot';
import type { ComponentProps } from 'react';
import { cn } from './cn.ts';

const look = cva(
  'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap transition-shadow duration-(--d-1) select-none focus-visible:shadow-focus disabled:bg-sunken disabled:text-ink-off disabled:shadow-hair-subtle aria-disabled:cursor-default aria-disabled:bg-sunken aria-disabled:text-ink-off aria-disabled:shadow-hair-subtle [&_svg]:shrink-0',
  {
    variants: {
      variant: {
        default:
          'bg-surface text-ink shadow-control hover:bg-hover active:bg-press [&_svg]:text-ink-2 disabled:[&_svg]:text-inherit',
        primary: 'bg-brand text-on-brand shadow-1 hover:bg-brand-hover',
        ghost: 'text-ink-2 hover:bg-hover hover:text-ink active:bg-press disabled:bg-transparent disabled:shadow-none',
        danger:
          'bg-surface text-failed-text shadow-[inset_0_0_0_1px_var(--failed-line),var(--shadow-low)] hover:bg-failed-tint',
        'danger-solid': 'bg-danger text-on-brand shadow-1 hover:brightness-95',
      },
      size: {
        default: 'h-(--control) px-[11px] text-13 [&_svg]:size-[15px] pointer-coarse:h-10',
        sm: 'h-(--control-sm) rounded-sm px-2 text-12 [&_svg]:size-3.5 pointer-coarse:h-8',
      },
      square: { true: 'px-0', false: '' },
    },
    compoundVariants: [
      { square: true, size: 'default', class: 'w-(--control) pointer-coarse:w-10' },
      { square: true, size: 'sm', class: 'w-(--control-sm) pointer-coarse:w-8' },
    ],
    defaultVariants: { variant: 'default', size: 'default', square: false },
  },
);

export interface ButtonProps extends ComponentProps<'button'>, Omit<VariantProps<typeof look>, 'square'> {
  /** Styles the only child (a link, for example) as a button: `<Button asChild><Link href="…">Open</Link></Button>`. */
  asChild?: boolean;
  /** Whether the action is in progress: the button keeps its width, ignores clicks, and is announced as busy. */
  busy?: boolean;
}

/**
 * Use at most one `primary` per page, `danger` (outlined) on pages, and `danger-solid` only in dialogs. The label names
 * the action and its extent, as in "Apply to 1 VM". A lucide icon goes before the label, as a child.
 */
export function Button({ variant, size, asChild = false, busy = false, className, ...props }: ButtonProps) {
  const classes = cn(look({ variant, size }), busy && 'cursor-progress', className);
  if (asChild) return <Slot className={classes} {...props} />;
  return (
    <button
      type="button"
      aria-busy={busy || undefined}
      {...props}
      className={classes}
      onClick={busy ? (event) => event.preventDefault() : props.onClick}
    />
  );
}

export interface IconButtonProps extends Omit<ButtonProps, 'aria-label'> {
  /** The action's name, used as the accessible name and the tooltip. */
  label: string;
}

/**
 * A square button with only an icon. Use it only where the icon is familiar, such as for close, more, copy or download;
 * other buttons need a visible label.
 */
export function IconButton({
  variant = 'ghost',
  size,
  label,
  className,
  asChild = false,
  busy = false,
  ...props
}: IconButtonProps) {
  const classes = cn(look({ variant, size, square: true }), busy && 'cursor-progress', className);
  if (asChild) return <Slot aria-label={label} title={label} className={classes} {...props} />;
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      aria-busy={busy || undefined}
      {...props}
      className={classes}
      onClick={busy ? (event) => event.preventDefault() : props.onClick}
    />
  );
}
