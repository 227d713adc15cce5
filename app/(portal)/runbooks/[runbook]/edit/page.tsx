import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, reader } from '#app/_lib/portal.ts';
import { codeOf, orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { runbookHref } from '../../runbook-data.ts';
import { EditorOnDemand } from './editor-on-demand.tsx';
import { type StartingPoint, startOfExecution, startOfNew, startOfVersion } from './starting-point.ts';

interface Query {
  version?: string | string[];
  vm?: string | string[];
  execution?: string | string[];
}

interface Props {
  params: Promise<{ runbook: string }>;
  searchParams: Promise<Query>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const [{ t }, { runbook: name }] = await Promise.all([words('runbooks'), params]);
  return { title: `${t('edit.title')} · ${decodeURIComponent(name)}` };
}

/**
 * Edits a version of a runbook: the draft `version`, or a new version that starts with a copy of an existing version,
 * with the plan of an execution, or with a sample plan.
 */
export default async function EditRunbookPage({ params, searchParams }: Props) {
  const [{ t }, { t: say }, { runbook: given }, query] = await Promise.all([
    words('runbooks'),
    words('common'),
    params,
    searchParams,
  ]);
  const name = decodeURIComponent(given).slice(0, 64);
  const crumbs = (last: string) => [
    { label: t('title'), href: '/runbooks' },
    { label: name, href: runbookHref(name), isName: true },
    { label: last },
  ];
  if ((await reader())?.scripts !== true) {
    return (
      <Page crumbs={crumbs(t('edit.title'))}>
        <Card>
          <EmptyState as="h1" title={say('forbidden.title')}>
            <p>{t('edit.needsScripts')}</p>
            <p>
              <TextLink href="/runbooks">{t('run.none.link')}</TextLink>
            </p>
          </EmptyState>
        </Card>
      </Page>
    );
  }
  const { start, isNew } = await readStart(name, query);
  const first = isNew ? [{ label: t('title'), href: '/runbooks' }, { label: t('new') }] : crumbs(t('edit.title'));
  return (
    <Page crumbs={first}>
      <Words namespaces={['runbooks', 'executions', 'editor']}>
        <EditorOnDemand name={name} start={start} isNew={isNew} />
      </Words>
    </Page>
  );
}

async function readStart(name: string, query: Query): Promise<{ start: StartingPoint; isNew: boolean }> {
  const { runbooks, executions } = await portal();
  const runbook = await runbooks.get({ name }).catch((error: unknown) => {
    if (codeOf(error) === 'runbook_unknown') return null;
    throw error;
  });
  const isNew = runbook === null;
  if (typeof query.vm === 'string' && typeof query.execution === 'string') {
    const about = { vmId: query.vm, executionId: query.execution };
    const [plan, execution] = await Promise.all([
      orNotFound(executions.plan(about)),
      orNotFound(executions.get(about)),
    ]);
    return { start: startOfExecution(plan, execution), isNew };
  }
  if (runbook === null) return { start: startOfNew(), isNew };
  const wanted = typeof query.version === 'string' ? query.version : (runbook.versions[0]?.version ?? '');
  const version = await orNotFound(runbooks.version({ name, version: wanted }));
  return { start: startOfVersion(runbook, version), isNew };
}
