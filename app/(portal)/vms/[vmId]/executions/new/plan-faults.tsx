'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ProblemFault } from '#app/_lib/problem.ts';
import { FieldError } from '#app/_ui/field.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { PlanCheck } from './use-plan-check.ts';

/** Limits the list; the editor marks every fault. */
const maxListed = 50;

export interface PlanFaultsProps {
  /** Null before the first check. */
  check: PlanCheck | null;
  settled: boolean;
  /** Moves the focus of the editor to a place in the plan. */
  onGo(place: Pick<ProblemFault, 'path' | 'line'>): void;
}

/** Shows whether the plan can run and, if not, each fault with its place in the plan. */
export function PlanFaults({ check, settled, onGo }: PlanFaultsProps) {
  const { t } = useTranslation('executions');
  const rest = (check?.faults.length ?? 0) - maxListed;
  return (
    <section aria-label={t('check')} aria-busy={!settled} className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <p role="status" className="flex items-baseline gap-1.5 text-12 font-medium">
        {check === null ? (
          t('check.pending')
        ) : check.problem !== null ? null : (
          <>
            <StatusIcon status={check.code === 0 ? 'healthy' : 'failed'} className="relative top-0.5" />
            <span className="min-w-0">{t(wordOf(check), { count: check.faults.length, code: check.code ?? 0 })}</span>
          </>
        )}
      </p>
      {check?.problem ? <FieldError>{check.problem.message}</FieldError> : null}
      {check?.converted ? <p className="text-12 text-ink-2">{t('check.converted')}</p> : null}
      {check === null ? null : <Warnings warnings={check.warnings} />}
      {check === null || check.faults.length === 0 ? null : (
        <ol className="grid grid-cols-[minmax(0,1fr)] gap-1.5">
          {check.faults.slice(0, maxListed).map((fault, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the faults of a check keep their order
            <li key={index}>
              <Fault fault={fault} onGo={onGo} />
            </li>
          ))}
          {rest > 0 ? <li className="text-12 text-ink-2">{t('check.rest', { count: rest })}</li> : null}
        </ol>
      )}
    </section>
  );
}

function Warnings({ warnings }: Pick<PlanCheck, 'warnings'>) {
  const { t } = useTranslation('executions');
  if (warnings.length === 0) return null;
  return (
    <section aria-label={t('check.warnings')} className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <p className="text-12 font-medium">{t('check.warnings.count', { count: warnings.length })}</p>
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-1">
        {warnings.slice(0, maxListed).map(({ path, message }) => (
          <li key={`${path} ${message}`} className="flex items-baseline gap-1.5 text-12">
            <StatusIcon status="warning" className="relative top-0.5 shrink-0" />
            <span className="min-w-0 wrap-anywhere">{message}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A fault with its place, as a button that goes there. */
function Fault({ fault, onGo }: { fault: ProblemFault } & Pick<PlanFaultsProps, 'onGo'>) {
  const { t } = useTranslation('executions');
  const { path, message } = fault;
  return (
    <button
      type="button"
      onClick={() => onGo(fault)}
      className="block w-full rounded-sm px-2 py-1 text-start text-12 shadow-hair hover:bg-hover"
    >
      {path === '' ? (
        <span className="block text-ink-2">{t('check.whole')}</span>
      ) : (
        <code translate="no" className="mono-11 block wrap-anywhere text-ink-2">
          {path}
        </code>
      )}
      <span className="wrap-anywhere text-failed-text">{message}</span>
    </button>
  );
}

function wordOf({ code }: PlanCheck): 'check.fine' | 'check.invalid' | 'check.faults' {
  if (code === 0) return 'check.fine';
  return code === null ? 'check.invalid' : 'check.faults';
}
