import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { mayRunPlans } from '#app/_lib/may-run-plans.ts';
import { portal, reader } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { tabHref } from '../../vm-data.ts';
import { readable, startingPlan, withoutIdentity } from '../plan-text.ts';
import { RunPlan } from './run-plan.tsx';

interface Props {
  params: Promise<{ vmId: string }>;
  searchParams: Promise<{ from?: string | string[] }>;
}

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('executions');
  return { title: t('run.title') };
}

/** Queues an execution plan for a VM. With `from`, the editor starts with the plan of an earlier execution. */
export default async function RunPlanPage({ params, searchParams }: Props) {
  const [{ t }, { t: say }, { vmId }, { from }] = await Promise.all([
    words('executions'),
    words('common'),
    params,
    searchParams,
  ]);
  const api = await portal();
  const vm = await orNotFound(api.vms.get({ vmId }));
  const crumbs = [
    { label: t('crumb.vms'), href: '/vms' },
    { label: vm.name, href: `/vms/${vm.id}`, isName: true },
    { label: t('title'), href: tabHref(vm.id, 'executions') },
    { label: t('run') },
  ];
  const who = await reader();
  if (!mayRunPlans(who)) {
    return (
      <Page crumbs={crumbs}>
        <Card>
          <EmptyState as="h1" title={who?.role === 'operator' ? t('run.noRight') : say('forbidden.title')}>
            <p>{t('run.needsScripts')}</p>
            <p>
              <TextLink href={tabHref(vm.id, 'executions')}>{t('run.back', { name: vm.name })}</TextLink>
            </p>
          </EmptyState>
        </Card>
      </Page>
    );
  }
  const first =
    typeof from === 'string' ? await orNotFound(api.executions.plan({ vmId: vm.id, executionId: from })) : null;
  return (
    <Page crumbs={crumbs}>
      <Words namespaces={['executions', 'editor']}>
        <RunPlan
          vm={{ id: vm.id, name: vm.name }}
          first={first === null ? startingPlan : readable(withoutIdentity(first))}
          isCopy={first !== null}
        />
      </Words>
    </Page>
  );
}
