'use client';

import { useMutation } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardFooter, CardHeader } from '#app/_ui/card.tsx';
import { FieldError } from '#app/_ui/field.tsx';
import type { JsonEditorHandle } from '#app/_ui/json-editor.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { toast } from '#app/_ui/toast.tsx';
import { executionHref } from '#app/(portal)/executions/execution-data.ts';
import { LeaveGuard } from '../../extensions/_editor/leave-guard.tsx';
import { PlanEditor } from './plan-editor.tsx';
import { PlanFaults } from './plan-faults.tsx';
import { TermFields } from './term-fields.tsx';
import { firstTerms, termsOf } from './terms.ts';
import { usePlanCheck } from './use-plan-check.ts';

export interface RunPlanProps {
  vm: { id: string; name: string };
  /** The text with which the editor starts. */
  first: string;
  /** Whether the text is the plan of an earlier execution. */
  isCopy: boolean;
}

/** Lets the reader type or paste a plan, checks it after each change, and queues it. */
export function RunPlan({ vm, first, isCopy }: RunPlanProps) {
  const { t } = useTranslation('executions');
  const trpc = useTRPC();
  const router = useRouter();
  const explain = useProblem();
  const editor = useRef<JsonEditorHandle>(null);
  const [text, setText] = useState(first);
  const [terms, setTerms] = useState(firstTerms);
  const { check, settled } = usePlanCheck({ vmId: vm.id, text });
  const queue = useMutation(
    trpc.executions.queue.mutationOptions({
      onSuccess: ({ id, isNew }) => {
        toast(t(isNew ? 'run.done' : 'run.known'));
        router.push(executionHref({ vmId: vm.id, id }));
      },
    }),
  );
  const accepted = termsOf(terms);
  const isEdited = text !== first || terms !== firstTerms;
  const isReady = settled && check?.code === 0 && accepted !== null;
  const submit = () => {
    if (isReady) queue.mutate({ vmId: vm.id, plan: text, ...accepted });
  };
  return (
    <>
      <PageHeader title={t('run.title')} note={<span translate="no">{vm.name}</span>} />
      <LeaveGuard active={isEdited && !queue.isSuccess} title={t('run.leave')} />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <PlanEditor editor={editor} text={text} faults={check?.faults ?? []} isCopy={isCopy} onText={setText} />
        <Card>
          <CardHeader title={t('run.terms')} />
          <CardBody className="grid grid-cols-[minmax(0,1fr)] gap-3">
            <TermFields terms={terms} onChange={setTerms} />
            <PlanFaults
              check={check}
              settled={settled}
              onGo={({ path, line }) => editor.current?.goTo({ pointer: path, line })}
            />
            {queue.error ? (
              <div role="alert">
                <FieldError>{explain(queue.error).message}</FieldError>
              </div>
            ) : null}
          </CardBody>
          <CardFooter>
            <Button variant="primary" busy={queue.isPending} disabled={!isReady} onClick={submit}>
              {t('run.act')}
            </Button>
            <span className="flex-[1_1_9rem] text-12 text-ink-2">{t('run.root')}</span>
          </CardFooter>
        </Card>
      </div>
    </>
  );
}
