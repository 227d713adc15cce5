'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ExplainedProblem, ProblemFault } from '#app/_lib/problem.ts';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { PlanCheck } from '#app/(portal)/vms/[vmId]/executions/new/use-plan-check.ts';
import { isWithin } from './typed-texts.ts';

/** Limits the list; the editors mark every fault. */
const maxListed = 50;

export interface DraftCheckProps {
  /** All faults of the draft. */
  faults: readonly ProblemFault[];
  /** Warnings about the plan, with paths in the plan. */
  warnings: readonly ProblemFault[];
  /** Null before the first check. */
  check: PlanCheck | null;
  settled: boolean;
  /** Why the draft was not saved. */
  problem: ExplainedProblem | undefined;
  /** Moves the focus to the place of a fault. */
  onGo(fault: ProblemFault): void;
  className?: string;
}

/** Says whether the draft can be saved, and lists what prevents it and what is probably a mistake. */
export function DraftCheck({ faults, warnings, check, settled, problem, onGo, className }: DraftCheckProps) {
  const { t } = useTranslation(['runbooks', 'executions']);
  const rest = faults.length - maxListed;
  return (
    <Card className={className}>
      <CardHeader title={t('runbooks:edit.check')} />
      <CardBody>
        <section
          aria-label={t('runbooks:edit.check')}
          aria-busy={!settled}
          className="grid grid-cols-[minmax(0,1fr)] gap-2"
        >
          <Verdict {...{ faults, check }} />
          {check?.problem ? <FieldError>{check.problem.message}</FieldError> : null}
          {problem === undefined || problem.faults.length > 0 ? null : <FieldError>{problem.message}</FieldError>}
          {check?.converted ? <p className="text-12 text-ink-2">{t('executions:check.converted')}</p> : null}
          {faults.length === 0 ? null : (
            <ol className="grid grid-cols-[minmax(0,1fr)] gap-1.5">
              {faults.slice(0, maxListed).map((fault) => (
                <li key={`${fault.path} ${fault.message}`}>
                  <Fault fault={fault} onGo={onGo} />
                </li>
              ))}
              {rest > 0 ? <li className="text-12 text-ink-2">{t('executions:check.rest', { count: rest })}</li> : null}
            </ol>
          )}
          {warnings.length === 0 ? null : <Warnings warnings={warnings} onGo={onGo} />}
        </section>
      </CardBody>
    </Card>
  );
}

function Verdict({ faults, check }: Pick<DraftCheckProps, 'faults' | 'check'>) {
  const { t } = useTranslation(['runbooks', 'executions']);
  if (faults.length === 0 && check !== null && check.problem !== null) return null;
  return (
    <p role="status" className="flex items-baseline gap-1.5 text-12 font-medium">
      {faults.length === 0 && check === null ? (
        t('executions:check.pending')
      ) : (
        <>
          <StatusIcon status={faults.length === 0 ? 'healthy' : 'failed'} className="relative top-0.5 shrink-0" />
          <span className="min-w-0">
            {faults.length === 0 ? t('runbooks:edit.fine') : t('runbooks:edit.blocked', { count: faults.length })}
          </span>
        </>
      )}
    </p>
  );
}

function Warnings({ warnings, onGo }: Pick<DraftCheckProps, 'warnings' | 'onGo'>) {
  const { t } = useTranslation('executions');
  return (
    <section aria-label={t('check.warnings')} className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <p className="text-12 font-medium">{t('check.warnings.count', { count: warnings.length })}</p>
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-1">
        {warnings.slice(0, maxListed).map((warning) => (
          <li key={`${warning.path} ${warning.message}`}>
            <button
              type="button"
              onClick={() => onGo({ ...warning, path: `/plan${warning.path}` })}
              className="flex w-full items-baseline gap-1.5 rounded-sm px-1 py-0.5 text-start text-12 hover:bg-hover"
            >
              <StatusIcon status="warning" className="relative top-0.5 shrink-0" />
              <span className="min-w-0 wrap-anywhere">{warning.message}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A fault with its place, as a button that goes there. */
function Fault({ fault, onGo }: { fault: ProblemFault; onGo(fault: ProblemFault): void }) {
  const { t } = useTranslation(['runbooks', 'executions']);
  const { path, message } = fault;
  const part = partOf(path);
  const labels = {
    title: t('runbooks:edit.name'),
    description: t('runbooks:edit.description'),
    version: t('runbooks:run.version'),
    timeoutSeconds: t('executions:run.timeout'),
    validForSeconds: t('executions:run.validity'),
    plan: t('executions:run.plan'),
    parameters: t('runbooks:edit.schema'),
    other: t('runbooks:edit.version'),
  };
  const inner = part === 'plan' || part === 'parameters' ? path.slice(part.length + 1) : '';
  return (
    <button
      type="button"
      onClick={() => onGo(fault)}
      className="block w-full rounded-sm px-2 py-1 text-start text-12 shadow-hair hover:bg-hover"
    >
      <span className="block text-ink-2">
        {labels[part]}{' '}
        {inner === '' ? null : (
          <code translate="no" className="mono-11 wrap-anywhere">
            {inner}
          </code>
        )}
      </span>
      <span className="wrap-anywhere text-failed-text">{message}</span>
    </button>
  );
}

const parts = ['title', 'description', 'version', 'timeoutSeconds', 'validForSeconds', 'plan', 'parameters'] as const;

const partOf = (path: string) => parts.find((part) => isWithin(path, `/${part}`)) ?? 'other';
