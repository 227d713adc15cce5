'use client';

import { type ComponentProps, useEffect, useRef } from 'react';

export interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit' | 'onChange' | 'ref'> {
  /** Whether the form is being saved, so that it cannot be submitted again. */
  busy?: boolean;
  onSubmit(form: HTMLFormElement): void;
  /** Called when the user changes a field, so that the page can clear the errors of the last attempt. */
  onEdit?(): void;
}

/** Two submits within this time, in milliseconds, count as one double click. */
const doubleClickMs = 500;

/** A form that ignores the second submit of a double click, and focuses the first invalid field after a submit. */
export function Form({ busy = false, onSubmit, onEdit, ...props }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const submittedAt = useRef(Number.NEGATIVE_INFINITY);
  const isTried = useRef(false);
  // Runs after every render, because an error may come from the fields or, later, from the portal.
  useEffect(() => {
    if (busy) submittedAt.current = Number.NEGATIVE_INFINITY;
    if (busy || !isTried.current) return;
    const faulty = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    if (!faulty) return;
    isTried.current = false;
    faulty.focus();
  });
  return (
    <form
      {...props}
      ref={form}
      onChange={() => {
        submittedAt.current = Number.NEGATIVE_INFINITY;
        isTried.current = false;
        onEdit?.();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        if (busy || event.timeStamp - submittedAt.current < doubleClickMs) return;
        submittedAt.current = event.timeStamp;
        isTried.current = true;
        onSubmit(event.currentTarget);
      }}
    />
  );
}
