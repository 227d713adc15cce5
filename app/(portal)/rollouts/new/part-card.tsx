import type { ReactNode } from 'react';
import type { ProblemFault } from '#app/_lib/problem.ts';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import type { EditorPart } from './faults.ts';

export interface PartCardProps {
  part: EditorPart;
  title: string;
  note?: ReactNode;
  actions?: ReactNode;
  /** Faults that no field of the part shows. */
  faults?: readonly ProblemFault[];
  children: ReactNode;
  className?: string;
}

/** One part of the page. Links in the footer lead to it. */
export function PartCard({ part, title, note, actions, faults = [], children, className }: PartCardProps) {
  return (
    <Card id={`part-${part}`} tabIndex={-1} aria-labelledby={`part-${part}-title`} className={className}>
      <CardHeader id={`part-${part}-title`} title={title} note={note} actions={actions} />
      <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-3.5">
        {children}
        <div aria-live="polite" className="grid gap-1 empty:hidden">
          {faults.map((fault) => (
            <FieldError key={fault.path + fault.code}>{fault.message}</FieldError>
          ))}
        </div>
      </CardBody>
    </Card>
  );
}

/** The names of parts, for links to them. */
export const partId = (part: EditorPart): string => `part-${part}`;
