'use client';

import { useDeferredValue, useMemo } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { type KnownParameters, lintPlan, type PlanWarning } from './lint.ts';

type Schema = Record<string, unknown>;

const maxListed = 20;

export interface WarningsProps {
  plan: string;
  /** Null if the runbook accepts no parameters; undefined while the schema is not valid. */
  schema: Schema | null | undefined;
}

/** What is doubtful in the plan. Warnings keep no one from saving. */
export function Warnings({ plan, schema }: WarningsProps) {
  const { t } = useTranslation('runbooks');
  const settled = useDeferredValue(plan);
  const warnings = useMemo(() => lintPlan(settled, knownIn(schema)), [settled, schema]);
  if (warnings.length === 0) return null;
  return (
    <section aria-label={t('lint.title')} className="grid grid-cols-[minmax(0,1fr)] gap-1.5">
      <p className="text-12 font-medium">{t('lint.count', { count: warnings.length })}</p>
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-1">
        {warnings.slice(0, maxListed).map((warning) => (
          <li key={`${warning.id} ${warning.name} ${warning.line}`} className="flex items-baseline gap-1.5 text-12">
            <StatusIcon status="warning" className="relative top-0.5 shrink-0" />
            <span className="min-w-0 wrap-anywhere">
              {warning.line === null ? null : (
                <span className="text-ink-3">{t('lint.line', { line: warning.line })} </span>
              )}
              <Sentence warning={warning} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Sentence({ warning: { id, name } }: { warning: PlanWarning }) {
  const { t } = useTranslation('runbooks');
  return t(`lint.${id}`, { name });
}

function knownIn(schema: Schema | null | undefined): KnownParameters {
  // While the schema is being typed, nothing is known about the parameters.
  if (schema === undefined) return { names: [], secrets: [], isOpen: true };
  const properties = Object.entries((schema?.properties ?? {}) as Schema);
  const isSecret = (part: unknown) =>
    typeof part === 'object' && part !== null && Reflect.get(part, 'writeOnly') === true;
  return {
    names: properties.map(([name]) => name),
    secrets: properties.filter(([, part]) => isSecret(part)).map(([name]) => name),
    isOpen: schema !== null && schema.additionalProperties !== false,
  };
}
