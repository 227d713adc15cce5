'use client';

import dynamic from 'next/dynamic';
import { useMemo, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { problemOf } from '#app/_lib/problem.ts';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Banner } from '#app/_ui/banner.tsx';
import type { JsonEditorHandle } from '#app/_ui/json-editor.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { AddedMachine, ShownModel } from '../../model-data.ts';
import { ApplyBar } from './apply-bar.tsx';
import { DocumentCard } from './document-card.tsx';
import { countChanges, type ShownModelDocument } from './document-data.ts';
import { HooksCard } from './hooks-card.tsx';
import { PlanCard } from './plan-card.tsx';
import { useApply, useDraft, usePlan } from './use-document.ts';

const NewMachinesDialog = dynamic(
  () => import('../new-machines-dialog.tsx').then((module) => module.NewMachinesDialog),
  { ssr: false },
);

/** A banner stays visible when the reader is at the end of the document, where the buttons are. */
const stays = 'sticky top-[calc(var(--topbar)+8px)] z-10 mb-4';

export interface DocumentEditorProps {
  model: ShownModel;
  document: ShownModelDocument;
}

/** The document in an editor, its plan, and the button that applies the plan that is shown. */
export function DocumentEditor({ model, document: read }: DocumentEditorProps) {
  const { t } = useTranslation('services');
  const explain = useProblem();
  const [added, setAdded] = useState<readonly AddedMachine[]>([]);
  const editor = useRef<JsonEditorHandle>(null);
  const draft = useDraft(read.document);
  const plan = usePlan(model.name, draft, model.revision);
  const apply = useApply({
    onApplied: (machines) => {
      setAdded(machines);
      draft.discard();
    },
  });
  const problem = plan.error === null || plan.isBroken ? null : explain(plan.error);
  const faults = problem?.faults;
  const marks = useMemo(
    () => ({ faults: (faults ?? []).map(({ path, message }) => ({ pointer: path, path, message })) }),
    [faults],
  );
  const goTo = (pointer: string) => editor.current?.goTo({ pointer });
  const failed = apply.error === null || apply.isOutdated ? null : problemOf(apply.error);
  return (
    <>
      {apply.isOutdated ? (
        <Banner boxed status="warning" role="alert" className={stays}>
          {t('document.outdated', { model: model.name })}
        </Banner>
      ) : null}
      {failed === null ? null : (
        <Banner boxed status="failed" role="alert" className={stays}>
          {explain(apply.error).message}
        </Banner>
      )}
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <DocumentCard model={model.name} editor={editor} draft={draft} marks={marks} isBroken={plan.isBroken} />
        <div className="grid min-w-0 gap-4">
          <PlanCard model={model} draft={draft} plan={plan} problem={problem} onGoTo={goTo} />
          {plan.data === undefined || plan.isBroken || problem !== null ? null : (
            <HooksCard hooks={plan.data.hooks} hasChanges={countChanges(plan.data) > 0} />
          )}
        </div>
      </div>
      <ApplyBar
        model={model.name}
        draft={draft}
        onDiscard={() => {
          apply.reset();
          draft.discard();
        }}
        plan={plan.isCurrent && problem === null ? plan.data : undefined}
        isPending={apply.isPending}
        onApply={(shown) => {
          const [document, count] = [JSON.parse(draft.text), countChanges(shown)];
          apply.mutate(
            { model: model.name, document, prune: shown.prune, plan: shown.planHash },
            { onSuccess: () => toast(t('document.applied', { count, model: model.name })) },
          );
        }}
      />
      {added.length === 0 ? null : <NewMachinesDialog machines={added} onClose={() => setAdded([])} />}
    </>
  );
}
