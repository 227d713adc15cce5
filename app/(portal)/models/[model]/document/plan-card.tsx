'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import type { ExplainedProblem } from '#app/_lib/problem.ts';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Skeleton } from '#app/_ui/skeleton.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { ShownModel } from '../../model-data.ts';
import { ActItem } from './act-item.tsx';
import { countChanges, countNewHooks, leavesOut, type ShownPlan } from './document-data.ts';
import { LeftOut } from './left-out.tsx';
import type { DocumentDraft, usePlan } from './use-document.ts';

export interface DocumentPlanCardProps {
  model: ShownModel;
  draft: DocumentDraft;
  plan: ReturnType<typeof usePlan>;
  /** Why there is no plan; null if there is one. */
  problem: ExplainedProblem | null;
  onGoTo(pointer: string): void;
}

/** What applying the document would do: acts in order, and what stays. */
export function PlanCard({ model, draft, plan, problem, onGoTo }: DocumentPlanCardProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const { data } = plan;
  const hasChanges = problem === null && plan.isCurrent && data !== undefined && countChanges(data) > 0;
  return (
    <Card aria-busy={!plan.isCurrent}>
      <CardHeader
        title={t('document.plan')}
        note={hasChanges ? t('document.notApplied') : undefined}
        actions={
          data?.revision == null || plan.isBroken ? undefined : (
            <span className="text-12 text-ink-3">
              {t('document.forRevision', { revision: format.number(data.revision) })}
            </span>
          )
        }
      />
      {plan.isBroken ? (
        <CardBody className="text-ink-2">{t('document.waits')}</CardBody>
      ) : problem !== null && isOfPortal(problem) ? (
        <QueryError
          title={t('document.planFailed')}
          error={plan.error}
          onRetry={plan.refetch}
          at={new Date(plan.errorUpdatedAt)}
        />
      ) : problem !== null ? (
        <Faults problem={problem} onGoTo={onGoTo} />
      ) : data === undefined ? (
        <CardBody role="status">
          <span className="sr-only">{t('document.planning')}</span>
          <Skeleton className="w-40" />
        </CardBody>
      ) : (
        <>
          <Summary plan={data} isCurrent={plan.isCurrent} />
          <ol>
            {data.acts.map((act, index) => (
              <ActItem
                key={act.path + act.kind}
                model={model.name}
                act={act}
                number={index + 1}
                warnings={data.warnings}
                onGoTo={onGoTo}
              />
            ))}
          </ol>
          {leavesOut(data) ? <LeftOut plan={data} draft={draft} /> : null}
        </>
      )}
    </Card>
  );
}

/** Whether the portal or the connection failed, so that a retry can help. Otherwise, the document has faults. */
const isOfPortal = ({ offline, status = 0 }: ExplainedProblem): boolean => offline || status >= 500;

/** How many changes a plan has. `isCurrent`: whether it is the plan of the text in the editor. */
function Summary({ plan, isCurrent }: { plan: ShownPlan; isCurrent: boolean }) {
  const { t } = useTranslation('services');
  const [changes, hooks] = [countChanges(plan), countNewHooks(plan)];
  const parts = [
    t('document.count.changes', { count: changes }),
    ...(plan.machines.length > 0 ? [t('document.count.machines', { count: plan.machines.length })] : []),
    ...(changes > 0 ? [hooks === 0 ? t('document.count.noHooks') : t('document.count.hooks', { count: hooks })] : []),
  ];
  return (
    <p role="status" className="flex flex-wrap gap-x-5 gap-y-1 px-4 pb-3 text-ink-2">
      {changes === 0 && !leavesOut(plan)
        ? t(isCurrent ? 'document.noChanges' : 'document.planning')
        : parts.map((part) => <span key={part}>{part}</span>)}
      {plan.warnings.length === 0 ? null : (
        <span className="flex gap-1.5 font-medium text-warning-text">
          <StatusIcon status="warning" className="mt-[3px]" />
          {t('document.count.warnings', { count: plan.warnings.length })}
        </span>
      )}
    </p>
  );
}

function Faults({ problem, onGoTo }: { problem: ExplainedProblem; onGoTo(pointer: string): void }) {
  return (
    <CardBody>
      <p role="alert" className="flex gap-1.5 text-failed-text">
        <StatusIcon status="failed" className="mt-[3px]" />
        {problem.message}
      </p>
      <ul className="mt-2 grid gap-1.5 ps-5">
        {problem.faults.map(({ path, code, message }) => (
          <li key={path + code} className="min-w-0 wrap-anywhere">
            {path === '' ? null : (
              <button
                type="button"
                translate="no"
                className="mono me-2 rounded-xs text-start text-brand-text underline underline-offset-3"
                onClick={() => onGoTo(path)}
              >
                {path}
              </button>
            )}
            {message}
          </li>
        ))}
      </ul>
    </CardBody>
  );
}
