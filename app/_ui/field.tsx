import { Slot } from 'radix-ui/slot';
import { type ReactNode, useId } from 'react';
import { cn } from './cn.ts';
import { StatusIcon } from './status-icon.tsx';

export interface FieldProps {
  label: ReactNode;
  /** At most one sentence of help. */
  hint?: ReactNode;
  /** A sentence about what is wrong with the value. Replaces the hint. */
  error?: ReactNode;
  /** A short note next to the label, such as "required" or "optional". */
  note?: ReactNode;
  /**
   * A single control: Input, Textarea, Select or a CodeMirror wrapper. Receives id, aria-describedby and aria-invalid.
   */
  children: ReactNode;
  id?: string;
  className?: string;
}

/** A label, a control, then a hint or an error. The error is announced when it appears. */
export function Field({ label, hint, error, note, children, id, className }: FieldProps) {
  const made = useId();
  const controlId = id ?? made;
  const helpId = `${controlId}-help`;
  const wrong = error !== undefined && error !== null && error !== '' && error !== false;
  return (
    <div className={cn('grid min-w-0 grid-cols-[minmax(0,1fr)] content-start gap-[5px]', className)}>
      <label htmlFor={controlId} className="text-12 font-medium">
        {label}
        {note === undefined ? null : <span className="font-normal text-ink-3"> {note}</span>}
      </label>
      <Slot id={controlId} aria-describedby={wrong || hint ? helpId : undefined} aria-invalid={wrong || undefined}>
        {children}
      </Slot>
      <div id={helpId} aria-live="polite" className="empty:hidden">
        {wrong ? <FieldError>{error}</FieldError> : hint ? <p className="text-12 text-ink-3">{hint}</p> : null}
      </div>
    </div>
  );
}

/** An error below its field, as an icon and a sentence. */
export function FieldError({ children }: { children: ReactNode }) {
  return (
    <p className="flex items-baseline gap-1.5 text-12 text-failed-text">
      <StatusIcon status="failed" className="relative top-0.5" />
      <span className="min-w-0 wrap-anywhere">{children}</span>
    </p>
  );
}

/** A checkbox or switch with its label next to it. The whole line is clickable. */
export function ControlRow({ control, children, hint }: { control: ReactNode; children: ReactNode; hint?: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is a child of the label, so it is labeled
    <label
      className={cn(
        'flex items-start gap-2 text-13 pointer-coarse:min-h-(--touch)',
        // With a hint, the control stays next to the label's first line.
        hint === undefined && 'pointer-coarse:items-center',
      )}
    >
      <span className="flex h-5 items-center">{control}</span>
      <span className="min-w-0">
        {children}
        {hint === undefined ? null : <span className="block text-12 text-ink-3">{hint}</span>}
      </span>
    </label>
  );
}
