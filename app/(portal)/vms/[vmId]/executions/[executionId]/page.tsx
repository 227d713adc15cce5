import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { cache } from 'react';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, reader } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { hasEnded, placeOfError, type ShownExecutionDetails } from '#app/(portal)/executions/execution-data.ts';
import { tabHref } from '../../vm-data.ts';
import { ExecutionPage, type FirstParts } from './execution-page.tsx';
import { windowRows } from './log/window-rows.ts';

interface Address {
  params: Promise<{ vmId: string; executionId: string }>;
}

export async function generateMetadata({ params }: Address): Promise<Metadata> {
  const [{ t }, { vmId, executionId }] = await Promise.all([words('executions'), params]);
  const { name, vmName } = await read(vmId, executionId);
  return { title: `${name === '' ? t('unnamed') : name} · ${vmName}` };
}

/** The page of one execution: what it is doing or how it ended, its calls, log, result and plan. */
export default async function ExecutionRoute({ params }: Address) {
  const [{ t }, { vmId, executionId }] = await Promise.all([words('executions'), params]);
  const first = await read(vmId, executionId);
  const parts = await readParts(first);
  return (
    <Page
      crumbs={[
        { label: t('crumb.vms'), href: '/vms' },
        { label: first.vmName, href: `/vms/${vmId}`, isName: true },
        { label: t('title'), href: tabHref(vmId, 'executions') },
        first.name === '' ? { label: t('unnamed') } : { label: first.name, isName: true },
      ]}
    >
      <Words namespaces={['executions', 'vms', 'runbooks']}>
        <ExecutionPage first={first} parts={parts} readAt={Date.now()} />
      </Words>
    </Page>
  );
}

const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** An invalid id is treated like an unknown execution. */
const read = cache(async (vmId: string, executionId: string) => {
  if (!idForm.test(vmId) || !idForm.test(executionId)) notFound();
  return orNotFound((await portal()).executions.get({ vmId, executionId }));
});

/** Larger parts are loaded by the page, so that the document stays small. */
const maxCharacters = 200_000;

/** Reads the parts below the header of the page, so that the layout does not shift while the page loads. */
async function readParts(execution: ShownExecutionDetails): Promise<FirstParts> {
  const about = { vmId: execution.vmId, executionId: execution.id };
  const [{ executions, instanceViews }, who] = await Promise.all([portal(), reader()]);
  const mayRead = who?.role === 'operator' || who?.role === 'admin';
  // If a part cannot be read, the page says so in its place.
  const small = async <T,>(part: Promise<T>) => {
    const value = await part.catch(() => undefined);
    return JSON.stringify(value ?? null).length > maxCharacters ? undefined : value;
  };
  const errorsFrom = mayRead ? placeOfError(execution) : null;
  const [view, log, errors, result, plan] = await Promise.all([
    hasEnded(execution) ? undefined : small(instanceViews.get({ vmId: execution.vmId })),
    mayRead ? small(executions.log({ ...about, row: 0, count: windowRows })) : undefined,
    errorsFrom === null ? undefined : small(executions.filter({ ...about, level: 'error', row: errorsFrom })),
    mayRead && hasEnded(execution) ? small(executions.result(about)) : undefined,
    mayRead ? small(executions.plan(about)) : undefined,
  ]);
  return { view, log, errors, result, plan };
}
