import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, reader } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { executionHref, type ShownExecution } from '#app/(portal)/executions/execution-data.ts';
import { tabHref } from '../../../vm-data.ts';
import { CompareView } from './compare-view.tsx';

interface Props {
  params: Promise<{ vmId: string; executionId: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('executions');
  return { title: t('compare.title') };
}

const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Compares an execution with the one that `?with=` names, on the same VM or on the VM that `?vm=` names. Without
 * `?with=`, compares it with the execution that `defaultOther` returns.
 */
export default async function ComparePage({ params, searchParams }: Props) {
  const [{ t }, { t: say }, { vmId, executionId }, asked] = await Promise.all([
    words('executions'),
    words('common'),
    params,
    searchParams,
  ]);
  if (!idForm.test(vmId) || !idForm.test(executionId)) notFound();
  const [{ executions }, who] = await Promise.all([portal(), reader()]);
  const own = await orNotFound(executions.get({ vmId, executionId }));
  const crumbs = [
    { label: t('crumb.vms'), href: '/vms' },
    { label: own.vmName, href: `/vms/${vmId}`, isName: true },
    { label: t('title'), href: tabHref(vmId, 'executions') },
    { label: own.name === '' ? t('unnamed') : own.name, href: executionHref(own), isName: own.name !== '' },
    { label: t('compare.title') },
  ];
  const { items } = await executions.list({ vmId, limit: 50 });
  const others = items.filter(({ id }) => id !== executionId);
  const named = (value: string | string[] | undefined) =>
    typeof value === 'string' && idForm.test(value) ? value : null;
  const other = {
    vmId: named(asked.vm) ?? vmId,
    executionId: named(asked.with) ?? defaultOther(own, others)?.id ?? null,
  };
  const mayRead = who?.role === 'operator' || who?.role === 'admin';
  if (!mayRead || other.executionId === null) {
    return (
      <Page crumbs={crumbs}>
        <Card>
          <EmptyState as="h1" title={t(mayRead ? 'compare.none' : 'compare.forbidden')}>
            <p>
              {mayRead
                ? t('compare.none.why', { again: t('again') })
                : t('compare.forbidden.why', { role: say(`role.${who?.role ?? 'viewer'}`) })}
            </p>
            <p>
              <TextLink href={executionHref(own)}>{t('compare.back')}</TextLink>
            </p>
          </EmptyState>
        </Card>
      </Page>
    );
  }
  const before = { vmId: other.vmId, executionId: other.executionId };
  const first = await orNotFound(executions.compare({ before, after: { vmId, executionId } }));
  return (
    <Page crumbs={crumbs}>
      <Words namespaces={['executions', 'packages']}>
        <CompareView first={first} others={others} />
      </Words>
    </Page>
  );
}

/** Prefers the latest earlier execution with the same name, then any earlier execution, then the first of `others`. */
function defaultOther(own: ShownExecution, others: readonly ShownExecution[]): ShownExecution | undefined {
  const earlier = others.filter(({ queuedAt }) => queuedAt < own.queuedAt);
  return earlier.find(({ name }) => name === own.name) ?? earlier[0] ?? others[0];
}
