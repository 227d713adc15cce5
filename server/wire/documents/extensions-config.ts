import type { StockExtension, StockGoalState } from '#server/domain/stock-agents/index.ts';
import { addresses } from './addresses.ts';
import { asciiJson, type XmlTree, xmlOf } from './xml.ts';

/**
 * The extensions of one handler. All of them have the same version. `Plugins` and `PluginSettings` have one element per
 * handler.
 */
interface Plugin {
  handler: string;
  version: string;
  isMultiple: boolean;
  extensions: StockExtension[];
}

/** The Unix epoch in .NET ticks (100 ns since year 1). */
const ticksTo1970 = 621_355_968_000_000_000n;

/** Renders the document with the handlers, their settings, their order, and the URL for the agent's status. */
export function extensionsConfigXml(vmId: string, goalState: StockGoalState, statusSecret: string): string {
  const { incarnation, movedAt, containerId, extensions } = goalState;
  const plugins = pluginsOf(extensions);
  return xmlOf({
    Extensions: {
      '@version': '1.0.0.0',
      '@goalStateIncarnation': String(incarnation),
      Plugins: { Plugin: plugins.map(pluginElement) },
      PluginSettings: { Plugin: plugins.map((plugin) => settingsElement(plugin, extensions)) },
      StatusUploadBlob: { '@statusBlobType': 'BlockBlob', '#text': addresses.status(containerId, statusSecret) },
      InVMArtifactsProfileBlob: addresses.artifactsProfile(containerId, incarnation),
      InVMGoalStateMetaData: {
        // After applying a goal state, older agents report its incarnation, and newer agents report this number.
        '@inSvdSeqNo': String(incarnation),
        '@createdOnTicks': String(BigInt(movedAt.getTime()) * 10_000n + ticksTo1970),
        '@activityId': vmId,
        '@correlationId': vmId,
      },
    },
  });
}

function pluginsOf(extensions: readonly StockExtension[]): Plugin[] {
  const plugins = new Map<string, Plugin>();
  for (const extension of extensions) {
    const { goal, version, wireName } = extension;
    const plugin = plugins.get(goal.handler);
    if (plugin !== undefined) plugin.extensions.push(extension);
    else {
      const { handler } = goal;
      plugins.set(handler, { handler, version, isMultiple: wireName !== null, extensions: [extension] });
    }
  }
  return [...plugins.values()];
}

function pluginElement({ handler, version, isMultiple, extensions }: Plugin): XmlTree {
  const states = extensions.map(({ goal }) => goal.state);
  const only = isMultiple ? 'enabled' : (states[0] ?? 'enabled');
  return {
    '@name': handler,
    '@version': version,
    '@location': addresses.manifest(handler),
    // If a handler has several extensions, each has its own state, and the handler is uninstalled only with the last
    // one.
    '@state': states.every((state) => state === 'uninstall') ? 'uninstall' : only,
    '@autoUpgrade': 'false',
    '@isJson': 'true',
    '@useExactVersion': 'true',
    '@runAsStartupTask': 'false',
  };
}

/** Renders the settings element, even if there are no settings: without it, the agent would never report a status. */
function settingsElement(
  { handler, version, isMultiple, extensions }: Plugin,
  all: readonly StockExtension[],
): XmlTree {
  return {
    '@name': handler,
    '@version': version,
    DependsOn: extensions.filter(({ level }) => level > 0).map((extension) => dependsOn(extension, all)),
    [isMultiple ? 'ExtensionRuntimeSettings' : 'RuntimeSettings']: extensions.map(({ goal, wireName }) => ({
      '@seqNo': String(goal.sequenceNumber),
      ...(wireName !== null && {
        '@name': wireName,
        '@state': goal.state === 'enabled' ? 'enabled' : 'disabled',
      }),
      '#text': asciiJson({ runtimeSettings: [{ handlerSettings: handlerSettings(goal.settings) }] }),
    })),
  };
}

function handlerSettings({
  publicSettings,
  protectedSettings,
  protectedSettingsCertThumbprint,
}: StockExtension['goal']['settings']) {
  return {
    publicSettings: publicSettings ?? {},
    ...(protectedSettings !== undefined && { protectedSettings, protectedSettingsCertThumbprint }),
  };
}

function dependsOn({ goal, wireName, level }: StockExtension, all: readonly StockExtension[]): XmlTree {
  const needed = all.filter((other) => goal.dependsOn.includes(other.goal.name));
  return {
    '@dependencyLevel': String(level),
    ...(wireName !== null && { '@name': wireName }),
    DependsOnExtension: needed.map((other) => ({
      '@handler': other.goal.handler,
      ...(other.wireName !== null && { '@extension': other.wireName }),
    })),
  };
}
