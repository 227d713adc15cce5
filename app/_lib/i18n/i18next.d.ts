import 'i18next';

/** Lets the compiler check every key: a key that is missing in English is a type error. */
declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'common';
    keySeparator: false;
    returnNull: false;
    resources: {
      outputs: typeof import('#locales/en/outputs.json')['default'];
      overview: typeof import('#locales/en/overview.json')['default'];
      attention: typeof import('#locales/en/attention.json')['default'];
      activity: typeof import('#locales/en/activity.json')['default'];
      account: typeof import('#locales/en/account.json')['default'];
      palette: typeof import('#locales/en/palette.json')['default'];
      auth: typeof import('#locales/en/auth.json')['default'];
      common: typeof import('#locales/en/common.json')['default'];
      enrollment: typeof import('#locales/en/enrollment.json')['default'];
      editor: typeof import('#locales/en/editor.json')['default'];
      executions: typeof import('#locales/en/executions.json')['default'];
      errors: typeof import('#locales/en/errors.json')['default'];
      'goal-states': typeof import('#locales/en/goal-states.json')['default'];
      localization: typeof import('#locales/en/localization.json')['default'];
      memberships: typeof import('#locales/en/memberships.json')['default'];
      models: typeof import('#locales/en/models.json')['default'];
      navigation: typeof import('#locales/en/navigation.json')['default'];
      packages: typeof import('#locales/en/packages.json')['default'];
      reports: typeof import('#locales/en/reports.json')['default'];
      runbooks: typeof import('#locales/en/runbooks.json')['default'];
      rollouts: typeof import('#locales/en/rollouts.json')['default'];
      services: typeof import('#locales/en/services.json')['default'];
      settings: typeof import('#locales/en/settings.json')['default'];
      timeline: typeof import('#locales/en/timeline.json')['default'];
      vms: typeof import('#locales/en/vms.json')['default'];
    };
  }
}
