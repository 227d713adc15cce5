'use client';

import type { ReactNode } from 'react';
import { Checkbox } from '#app/_ui/checkbox.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import type { FormFaults } from './faults.ts';

export interface SentenceProps {
  icon: ReactNode;
  title: string;
  /** Turns the gate on and off; undefined for what is always on. */
  toggle?: { on: boolean; set(on: boolean): void };
  faults?: ReturnType<FormFaults['below']>;
  children: ReactNode;
}

/** A gate or limit as a sentence. */
export function Sentence({ icon, title, toggle, faults = [], children }: SentenceProps) {
  return (
    <div className="flex min-w-0 gap-2.5">
      <span className="mt-1 text-ink-2 [&_svg]:size-4">{icon}</span>
      <div className="min-w-0 flex-1 leading-6 text-ink-2">
        {toggle === undefined ? null : (
          <Checkbox
            aria-label={title}
            checked={toggle.on}
            onCheckedChange={(checked) => toggle.set(checked === true)}
            className="me-1.5 -mt-0.5"
          />
        )}
        <strong className="me-1.5 font-semibold text-ink">{title}</strong>
        {children}
        {faults.map((fault) => (
          <FieldError key={fault.path + fault.code}>{fault.message}</FieldError>
        ))}
      </div>
    </div>
  );
}
