CREATE TABLE "audit_entries" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_entries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp with time zone NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text NOT NULL,
	"actor_name" text NOT NULL,
	"action" text NOT NULL,
	"target_kind" text NOT NULL,
	"target_id" text NOT NULL,
	"vm_id" uuid,
	"request_id" text NOT NULL,
	"details" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"account_id" text NOT NULL,
	"provider_id" text NOT NULL,
	"access_token" text,
	"refresh_token" text,
	"id_token" text,
	"access_token_expires_at" timestamp with time zone,
	"refresh_token_expires_at" timestamp with time zone,
	"scope" text,
	"password" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "api_tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"token_hash" text NOT NULL,
	"role" text NOT NULL,
	"namespaces" text[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL,
	"expires_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "api_tokens_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"role" text NOT NULL,
	"namespaces" text[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	"used_by" text,
	CONSTRAINT "invitations_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"token" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sessions_token_unique" UNIQUE("token")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"email" text NOT NULL,
	"email_verified" boolean DEFAULT false NOT NULL,
	"image" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"role" text DEFAULT 'viewer' NOT NULL,
	"namespaces" text[] DEFAULT '{}' NOT NULL,
	CONSTRAINT "users_email_unique" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "verifications" (
	"id" text PRIMARY KEY NOT NULL,
	"identifier" text NOT NULL,
	"value" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "changes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "changes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"topic" text NOT NULL,
	"key" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_presence" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"last_seen_at" timestamp with time zone NOT NULL,
	"next_expected_at" timestamp with time zone NOT NULL,
	"counter" bigint DEFAULT 0 NOT NULL,
	"clock_skew_seconds" integer,
	"heartbeat_seconds" integer,
	"status_seconds" integer,
	"applied_etag" text,
	"run" text,
	"report_number" bigint
);
--> statement-breakpoint
CREATE TABLE "agents" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"credential_hash" text NOT NULL,
	"certificate" text NOT NULL,
	"thumbprint" text NOT NULL,
	"key_hash" text NOT NULL,
	"name" text NOT NULL,
	"version" text NOT NULL,
	"os" jsonb NOT NULL,
	"enrolled_at" timestamp with time zone NOT NULL,
	"instance_id" text,
	"duplicate_seen_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "enrollment_tokens" (
	"vm_id" uuid NOT NULL,
	"token_hash" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"voided_at" timestamp with time zone,
	"used_at" timestamp with time zone,
	"used_key" text,
	CONSTRAINT "enrollment_tokens_vm_id_token_hash_pk" PRIMARY KEY("vm_id","token_hash")
);
--> statement-breakpoint
CREATE TABLE "extension_sequences" (
	"vm_id" uuid NOT NULL,
	"name" text NOT NULL,
	"highest" bigint NOT NULL,
	CONSTRAINT "extension_sequences_vm_id_name_pk" PRIMARY KEY("vm_id","name")
);
--> statement-breakpoint
CREATE TABLE "extensions" (
	"vm_id" uuid NOT NULL,
	"name" text NOT NULL,
	"handler" text NOT NULL,
	"requested_version" text NOT NULL,
	"version" text NOT NULL,
	"state" text NOT NULL,
	"auto_upgrade_minor_version" boolean NOT NULL,
	"depends_on" text[] NOT NULL,
	"timeouts" json NOT NULL,
	"public_settings" json NOT NULL,
	"secret_id" uuid,
	"sequence_number" bigint NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"changed_by" text NOT NULL,
	"delivered_at" timestamp with time zone,
	"ever_delivered" boolean DEFAULT false NOT NULL,
	CONSTRAINT "extensions_vm_id_name_pk" PRIMARY KEY("vm_id","name")
);
--> statement-breakpoint
CREATE TABLE "goal_state_heads" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"incarnation" integer NOT NULL,
	"etag" text NOT NULL,
	"text" text NOT NULL,
	"published_at" timestamp with time zone NOT NULL,
	"certificate" text,
	"thumbprint" text,
	"delivered_incarnation" integer DEFAULT 0 NOT NULL,
	"delivered_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "goal_states" (
	"vm_id" uuid NOT NULL,
	"incarnation" integer NOT NULL,
	"etag" text NOT NULL,
	"text" text NOT NULL,
	"contents" json NOT NULL,
	"cause" jsonb NOT NULL,
	"published_at" timestamp with time zone NOT NULL,
	"published_by" text NOT NULL,
	CONSTRAINT "goal_states_vm_id_incarnation_pk" PRIMARY KEY("vm_id","incarnation")
);
--> statement-breakpoint
CREATE TABLE "secrets" (
	"vm_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"name" text NOT NULL,
	"sealed" "bytea",
	"cms" "bytea",
	"thumbprint" text,
	"fingerprint" text NOT NULL,
	"schema_digest" text,
	"changed_at" timestamp with time zone NOT NULL,
	"changed_by" text NOT NULL,
	CONSTRAINT "secrets_vm_id_id_pk" PRIMARY KEY("vm_id","id")
);
--> statement-breakpoint
CREATE TABLE "installation" (
	"id" integer PRIMARY KEY NOT NULL,
	"epoch" text NOT NULL,
	"fingerprint" text NOT NULL,
	"key_check" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "resources" (
	"handler" text NOT NULL,
	"version" text NOT NULL,
	"lang" text NOT NULL,
	"messages" jsonb NOT NULL,
	"warnings" jsonb NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"updated_by" text NOT NULL,
	CONSTRAINT "resources_handler_version_lang_pk" PRIMARY KEY("handler","version","lang")
);
--> statement-breakpoint
CREATE TABLE "handler_versions" (
	"handler" text NOT NULL,
	"version" text NOT NULL,
	"version_key" text NOT NULL,
	"state" text NOT NULL,
	"sha256" text NOT NULL,
	"size" bigint NOT NULL,
	"manifest" jsonb NOT NULL,
	"manifest_text" text NOT NULL,
	"files" jsonb NOT NULL,
	"warnings" jsonb NOT NULL,
	"settings_schema" json,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL,
	"published_at" timestamp with time zone,
	"withdrawn_at" timestamp with time zone,
	"withdrawn_reason" text,
	CONSTRAINT "handler_versions_handler_version_pk" PRIMARY KEY("handler","version")
);
--> statement-breakpoint
CREATE TABLE "handlers" (
	"id" text PRIMARY KEY NOT NULL,
	"namespace" text NOT NULL,
	"type" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "publishers" (
	"namespace" text PRIMARY KEY NOT NULL,
	"display_name" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "extension_latest" (
	"vm_id" uuid NOT NULL,
	"name" text NOT NULL,
	"handler_state" jsonb,
	"handler_at" timestamp with time zone,
	"heartbeat" jsonb,
	"heartbeat_read_at" timestamp with time zone,
	"heartbeat_age_seconds" double precision,
	"status" jsonb,
	"status_sequence" bigint,
	"status_read_at" timestamp with time zone,
	"status_age_seconds" double precision,
	"concluded_at" timestamp with time zone,
	"concluded_with" text,
	CONSTRAINT "extension_latest_vm_id_name_pk" PRIMARY KEY("vm_id","name")
);
--> statement-breakpoint
CREATE TABLE "report_history" (
	"vm_id" uuid NOT NULL,
	"id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "report_history_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp with time zone NOT NULL,
	"kind" text NOT NULL,
	"extension" text NOT NULL,
	"sequence_number" bigint,
	"current" boolean NOT NULL,
	"document" jsonb NOT NULL,
	CONSTRAINT "report_history_vm_id_id_pk" PRIMARY KEY("vm_id","id")
);
--> statement-breakpoint
CREATE TABLE "vms" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"tags" jsonb NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL,
	"decommissioning_at" timestamp with time zone,
	"deleted_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_presence" ADD CONSTRAINT "agent_presence_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "enrollment_tokens" ADD CONSTRAINT "enrollment_tokens_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "extension_sequences" ADD CONSTRAINT "extension_sequences_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "extensions" ADD CONSTRAINT "extensions_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "goal_state_heads" ADD CONSTRAINT "goal_state_heads_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "goal_states" ADD CONSTRAINT "goal_states_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "resources" ADD CONSTRAINT "resources_handler_version_handler_versions_handler_version_fk" FOREIGN KEY ("handler","version") REFERENCES "public"."handler_versions"("handler","version") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "handler_versions" ADD CONSTRAINT "handler_versions_handler_handlers_id_fk" FOREIGN KEY ("handler") REFERENCES "public"."handlers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "handlers" ADD CONSTRAINT "handlers_namespace_publishers_namespace_fk" FOREIGN KEY ("namespace") REFERENCES "public"."publishers"("namespace") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "extension_latest" ADD CONSTRAINT "extension_latest_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "extension_latest" ADD CONSTRAINT "extension_latest_vm_id_name_extensions_vm_id_name_fk" FOREIGN KEY ("vm_id","name") REFERENCES "public"."extensions"("vm_id","name") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "report_history" ADD CONSTRAINT "report_history_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_entries_vm" ON "audit_entries" USING btree ("vm_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_target" ON "audit_entries" USING btree ("target_kind","target_id","id");--> statement-breakpoint
CREATE INDEX "accounts_user" ON "accounts" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "agents_credential" ON "agents" USING btree ("credential_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "agents_key" ON "agents" USING btree ("key_hash");--> statement-breakpoint
CREATE INDEX "enrollment_tokens_hash" ON "enrollment_tokens" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "extensions_version" ON "extensions" USING btree ("handler","version");--> statement-breakpoint
CREATE UNIQUE INDEX "handler_versions_key" ON "handler_versions" USING btree ("handler","version_key");--> statement-breakpoint
CREATE INDEX "handler_versions_sha256" ON "handler_versions" USING btree ("sha256");--> statement-breakpoint
CREATE INDEX "handlers_namespace" ON "handlers" USING btree ("namespace");--> statement-breakpoint
CREATE UNIQUE INDEX "handlers_spelling" ON "handlers" USING btree (lower("id"));--> statement-breakpoint
CREATE UNIQUE INDEX "publishers_spelling" ON "publishers" USING btree (lower("namespace"));--> statement-breakpoint
CREATE INDEX "report_history_extension" ON "report_history" USING btree ("vm_id","extension","id");--> statement-breakpoint
CREATE UNIQUE INDEX "vms_name" ON "vms" USING btree ("name") WHERE "vms"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "vms_page" ON "vms" USING btree ("name","id") WHERE "vms"."deleted_at" is null;