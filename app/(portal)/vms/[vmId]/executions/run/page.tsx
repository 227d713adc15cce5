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
import { presetsOf } from '#app/(portal)/runbooks/parameters.ts';
import { tabHref } from '../../vm-data.ts';
import { earlierValues } from './earlier-values.ts';
import { RunRunbook } from './run-runbook.tsx';

interface Props {
  params: Promise<{ vmId: string }>;
  searchParams: Promise<Partial<Record<'runbook' | 'version' | 'from', string | string[]>>>;
}

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('runbooks');
  return { title: t('run.title') };
}

/**
 * Runs a runbook on a VM. With `from`, the form starts with the parameters of an earlier execution, without its secret
 * parameters.
 */
export default async function RunRunbookPage({ params, searchParams }: Props) {
  const [{ t }, { t: say }, { vmId }, wanted] = await Promise.all([
    words('runbooks'),
    words('common'),
    params,
    searchParams,
  ]);
  const api = await portal();
  const vm = await orNotFound(api.vms.get({ vmId }));
  const executions = tabHref(vm.id, 'executions');
  const crumbs = [
    { label: t('crumb.vms'), href: '/vms' },
    { label: vm.name, href: `/vms/${vm.id}`, isName: true },
    { label: t('crumb.executions'), href: executions },
    { label: t('run.title') },
  ];
  const who = await reader();
  if (who?.role !== 'operator' && who?.role !== 'admin') {
    return (
      <Page crumbs={crumbs}>
        <Card>
          <EmptyState as="h1" title={say('forbidden.title')}>
            <p>{t('run.needsOperator')}</p>
            <p>
              <TextLink href={executions}>{t('run.back', { name: vm.name })}</TextLink>
            </p>
          </EmptyState>
        </Card>
      </Page>
    );
  }
  const { items } = await api.runbooks.list({});
  const choices = items.filter(({ state }) => state === 'published' || (state === 'draft' && mayRunPlans(who)));
  const chosen = typeof wanted.runbook === 'string' ? await readChosen(wanted.runbook, wanted.version) : null;
  const from = typeof wanted.from === 'string' ? wanted.from : null;
  const plan = from === null ? null : await orNotFound(api.executions.plan({ vmId: vm.id, executionId: from }));
  return (
    <Page crumbs={crumbs}>
      <Words namespaces={['runbooks', 'executions', 'editor']}>
        <RunRunbook
          key={chosen === null ? '' : `${chosen.runbook.name} ${chosen.version.version}`}
          vm={{ id: vm.id, name: vm.name }}
          choices={choices.map(({ name, title }) => ({ name, title }))}
          chosen={chosen}
          first={chosen === null ? {} : { ...presetsOf(chosen.version), ...earlierValues(plan, chosen.version) }}
          from={from}
        />
      </Words>
    </Page>
  );
}

/** Reads the chosen runbook with the chosen version; by default the published version or, without one, the newest. */
async function readChosen(name: string, wanted: string | string[] | undefined) {
  const { runbooks } = await portal();
  const runbook = await orNotFound(runbooks.get({ name: name.slice(0, 64) }));
  const isWanted = runbook.versions.some(({ version }) => version === wanted);
  const version = (isWanted ? String(wanted) : runbook.published) ?? runbook.versions[0]?.version ?? '';
  return { runbook, version: await orNotFound(runbooks.version({ name: runbook.name, version })) };
}
