import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, reader } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { EditorOnDemand } from '../extensions/_editor/editor-on-demand.tsx';
import { EditorPage } from '../extensions/_editor/editor-page.tsx';
import { HandlerChoice } from '../extensions/_editor/handler-choice.tsx';
import { NoAccess } from '../extensions/_editor/no-access.tsx';
import { firstOf, goalStateOf, membershipsOf, versionsOf } from '../extensions/_editor/page-parts.ts';
import { RolloutNotice } from '../extensions/_editor/rollout-notice.tsx';

interface Props {
  params: Promise<{ vmId: string }>;
  searchParams: Promise<{ handler?: string | string[] }>;
}

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await words('editor');
  return { title: t('new.title') };
}

/** The page that adds an extension to a VM: a choice of handlers or, if the URL names a handler, the editor for it. */
export default async function NewExtensionPage({ params, searchParams }: Props) {
  const { t } = await words('editor');
  const { vmId } = await params;
  const { handler } = await searchParams;
  const api = await portal();
  const vm = await orNotFound(api.vms.get({ vmId }));
  const crumbs = [
    { label: t('vms'), href: '/vms' },
    { label: vm.name, href: `/vms/${vm.id}`, isName: true },
    { label: t('new.crumb') },
  ];
  const who = await reader();
  if (who?.role !== 'operator' && who?.role !== 'admin') {
    return (
      <Page crumbs={crumbs}>
        <NoAccess role={who?.role ?? 'viewer'} vm={vm} />
      </Page>
    );
  }
  const versions = typeof handler === 'string' ? await orNotFound(versionsOf(api, handler)) : [];
  const version = versions[0]?.version;
  if (typeof handler !== 'string' || version === undefined) {
    return (
      <Page crumbs={crumbs}>
        <Words namespaces={['editor']}>
          <HandlerChoice
            vm={{ id: vm.id, name: vm.name }}
            first={await api.handlers.list({ kind: 'handler', q: '', limit: 50 })}
          />
        </Words>
      </Page>
    );
  }
  const [goalState, first, memberships] = await Promise.all([
    goalStateOf(api, vmId),
    firstOf(api, handler, version),
    membershipsOf(api, vmId),
  ]);
  return (
    <EditorPage crumbs={crumbs}>
      <RolloutNotice vmId={vm.id} handler={handler} name={null} first={memberships} />
      <EditorOnDemand
        key={handler}
        vm={vm}
        handler={handler}
        extension={null}
        goalState={goalState}
        versions={versions}
        first={first}
        suggestedName={freeName(handler, new Set(goalState.extensions.map(({ name }) => name)))}
      />
    </EditorPage>
  );
}

/** Suggests a name: the handler's type in lower case, with a number if that name is taken. */
function freeName(handler: string, taken: ReadonlySet<string>): string {
  const type = handler
    .slice(handler.lastIndexOf('.') + 1)
    .toLowerCase()
    .slice(0, 60);
  for (let number = 2, name = type; ; number += 1) {
    if (!taken.has(name)) return name;
    name = `${type}-${number}`;
  }
}
