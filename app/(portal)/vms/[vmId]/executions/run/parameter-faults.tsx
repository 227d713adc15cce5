'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ProblemFault } from '#app/_lib/problem.ts';
import { FieldError } from '#app/_ui/field.tsx';
import { fieldAt, focusField } from '#app/_ui/schema-form/focus-field.ts';
import { placeOfFault } from './place-of-fault.ts';

export interface ParameterFaultsProps {
  message: string;
  faults: readonly ProblemFault[];
}

/** Why the last attempt was rejected, with the faults of the parameters. Each fault leads to its field. */
export function ParameterFaults({ message, faults }: ParameterFaultsProps) {
  const { t } = useTranslation('runbooks');
  return (
    <section
      aria-label={t('run.faults')}
      className="grid max-h-[30dvh] w-full grid-cols-[minmax(0,1fr)] gap-1.5 overflow-y-auto pb-1"
    >
      <div role="alert">
        <FieldError>{message}</FieldError>
      </div>
      {faults.length === 0 ? null : (
        <ul className="grid grid-cols-[minmax(0,1fr)] ps-[22px]">
          {faults.map(({ path, message: why }) => {
            const place = placeOfFault(path);
            return (
              <li key={`${path} ${why}`} className="text-12">
                {place === null ? (
                  why
                ) : (
                  <button
                    type="button"
                    onClick={() => {
                      const field = fieldAt(place.at);
                      if (field !== null) focusField(field);
                    }}
                    className="min-h-6 rounded-sm text-start wrap-anywhere underline decoration-line underline-offset-3 hover:decoration-current"
                  >
                    <code translate="no" className="mono">
                      {place.name}
                    </code>{' '}
                    {why}
                  </button>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}
