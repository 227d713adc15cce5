CREATE TABLE "vm_concerns" (
	"vm_id" uuid NOT NULL,
	"source" text NOT NULL,
	"subject" text NOT NULL,
	"health" text NOT NULL,
	"cause" text,
	"command" text,
	"exit_code" integer,
	"message_id" text,
	"since" timestamp with time zone NOT NULL,
	"deadline_at" timestamp with time zone,
	CONSTRAINT "vm_concerns_vm_id_source_pk" PRIMARY KEY("vm_id","source")
);
--> statement-breakpoint
CREATE TABLE "service_settings" (
	"service_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"given" json NOT NULL,
	"effective" json NOT NULL,
	"formula_version" text NOT NULL,
	"secret" "bytea",
	"secret_fingerprint" text,
	"secret_set_by" text,
	"changed_at" timestamp with time zone NOT NULL,
	"changed_by" text NOT NULL,
	CONSTRAINT "service_settings_service_id_version_pk" PRIMARY KEY("service_id","version")
);
--> statement-breakpoint
CREATE TABLE "services" (
	"id" uuid PRIMARY KEY NOT NULL,
	"model_id" uuid NOT NULL,
	"name" text NOT NULL,
	"life" text NOT NULL,
	"formula" text NOT NULL,
	"formula_version" text NOT NULL,
	"settings_version" integer NOT NULL,
	"exposed" boolean NOT NULL,
	"at_once_upgrade" integer DEFAULT 1,
	"at_once_configure" integer DEFAULT 1,
	"timeouts" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"dying_at" timestamp with time zone,
	"removed_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "unit_counters" (
	"model_id" uuid NOT NULL,
	"service_name" text NOT NULL,
	"next" integer NOT NULL,
	CONSTRAINT "unit_counters_model_id_service_name_pk" PRIMARY KEY("model_id","service_name")
);
--> statement-breakpoint
CREATE TABLE "unit_heads" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"revision" bigint NOT NULL,
	"moved_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "unit_ports" (
	"unit_id" uuid NOT NULL,
	"protocol" text NOT NULL,
	"port" integer NOT NULL,
	"opened_run" uuid NOT NULL,
	"opened_at" timestamp with time zone NOT NULL,
	CONSTRAINT "unit_ports_unit_id_protocol_port_pk" PRIMARY KEY("unit_id","protocol","port")
);
--> statement-breakpoint
CREATE TABLE "units" (
	"id" uuid PRIMARY KEY NOT NULL,
	"model_id" uuid NOT NULL,
	"service_id" uuid NOT NULL,
	"name" text NOT NULL,
	"number" integer NOT NULL,
	"vm_id" uuid NOT NULL,
	"life" text NOT NULL,
	"turn" bigint NOT NULL,
	"formula_version" text NOT NULL,
	"settings_version" integer NOT NULL,
	"run_counter" integer DEFAULT 0 NOT NULL,
	"record" jsonb NOT NULL,
	"failing" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"skipped" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"resolution" jsonb,
	"agent_since" timestamp with time zone,
	"machine_enrolled_at" timestamp with time zone,
	"entered_at" timestamp with time zone,
	"dying_at" timestamp with time zone,
	"removed_at" timestamp with time zone,
	"forced" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "relation_endpoints" (
	"relation_id" bigint NOT NULL,
	"side" text NOT NULL,
	"service_id" uuid NOT NULL,
	"name" text NOT NULL,
	CONSTRAINT "relation_endpoints_relation_id_side_pk" PRIMARY KEY("relation_id","side")
);
--> statement-breakpoint
CREATE TABLE "relation_log" (
	"relation_id" bigint NOT NULL,
	"clock" bigint NOT NULL,
	"unit_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"version" integer NOT NULL,
	"delta" jsonb NOT NULL,
	"run_vm" uuid,
	"run_id" uuid,
	"at" timestamp with time zone NOT NULL,
	CONSTRAINT "relation_log_relation_id_clock_pk" PRIMARY KEY("relation_id","clock")
);
--> statement-breakpoint
CREATE TABLE "relation_seen" (
	"relation_id" bigint NOT NULL,
	"unit_id" uuid NOT NULL,
	"remote_unit_id" uuid NOT NULL,
	"version" integer,
	"at" timestamp with time zone NOT NULL,
	CONSTRAINT "relation_seen_relation_id_unit_id_remote_unit_id_pk" PRIMARY KEY("relation_id","unit_id","remote_unit_id")
);
--> statement-breakpoint
CREATE TABLE "relation_units" (
	"relation_id" bigint NOT NULL,
	"unit_id" uuid NOT NULL,
	"side" text NOT NULL,
	"state" text NOT NULL,
	"version" integer NOT NULL,
	"clock" bigint NOT NULL,
	"settings" jsonb NOT NULL,
	"written_run" uuid,
	"written_at" timestamp with time zone NOT NULL,
	CONSTRAINT "relation_units_relation_id_unit_id_pk" PRIMARY KEY("relation_id","unit_id")
);
--> statement-breakpoint
CREATE TABLE "relations" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "relations_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"model_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"interface" text NOT NULL,
	"life" text NOT NULL,
	"clock" bigint DEFAULT 0 NOT NULL,
	"moved_at" timestamp with time zone NOT NULL,
	"dying_at" timestamp with time zone,
	"removed_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "hook_runs" (
	"vm_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"unit_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"hook" text NOT NULL,
	"relation_id" bigint,
	"remote_unit_id" uuid,
	"due_version" integer,
	"attempt" integer NOT NULL,
	"formula_version" text NOT NULL,
	"cause" jsonb,
	"views" jsonb,
	"begun_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"seconds" double precision,
	"timeout_seconds" integer NOT NULL,
	"outcome" text NOT NULL,
	"exit_code" integer,
	"signal" text,
	"refused" text,
	"reason" jsonb,
	"result" jsonb,
	CONSTRAINT "hook_runs_vm_id_id_pk" PRIMARY KEY("vm_id","id")
);
--> statement-breakpoint
ALTER TABLE "vm_concerns" ADD CONSTRAINT "vm_concerns_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service_settings" ADD CONSTRAINT "service_settings_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "services" ADD CONSTRAINT "services_model_id_models_id_fk" FOREIGN KEY ("model_id") REFERENCES "public"."models"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "services" ADD CONSTRAINT "services_formula_version" FOREIGN KEY ("formula","formula_version") REFERENCES "public"."handler_versions"("handler","version") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "unit_counters" ADD CONSTRAINT "unit_counters_model_id_models_id_fk" FOREIGN KEY ("model_id") REFERENCES "public"."models"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "unit_heads" ADD CONSTRAINT "unit_heads_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "unit_ports" ADD CONSTRAINT "unit_ports_unit_id_units_id_fk" FOREIGN KEY ("unit_id") REFERENCES "public"."units"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "units" ADD CONSTRAINT "units_model_id_models_id_fk" FOREIGN KEY ("model_id") REFERENCES "public"."models"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "units" ADD CONSTRAINT "units_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "units" ADD CONSTRAINT "units_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "relation_endpoints" ADD CONSTRAINT "relation_endpoints_relation_id_relations_id_fk" FOREIGN KEY ("relation_id") REFERENCES "public"."relations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "relation_endpoints" ADD CONSTRAINT "relation_endpoints_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "relation_log" ADD CONSTRAINT "relation_log_relation_id_relations_id_fk" FOREIGN KEY ("relation_id") REFERENCES "public"."relations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "relation_log" ADD CONSTRAINT "relation_log_unit_id_units_id_fk" FOREIGN KEY ("unit_id") REFERENCES "public"."units"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "relation_seen" ADD CONSTRAINT "relation_seen_relation_id_relations_id_fk" FOREIGN KEY ("relation_id") REFERENCES "public"."relations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "relation_seen" ADD CONSTRAINT "relation_seen_unit_id_units_id_fk" FOREIGN KEY ("unit_id") REFERENCES "public"."units"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "relation_seen" ADD CONSTRAINT "relation_seen_remote_unit_id_units_id_fk" FOREIGN KEY ("remote_unit_id") REFERENCES "public"."units"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "relation_units" ADD CONSTRAINT "relation_units_relation_id_relations_id_fk" FOREIGN KEY ("relation_id") REFERENCES "public"."relations"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "relation_units" ADD CONSTRAINT "relation_units_unit_id_units_id_fk" FOREIGN KEY ("unit_id") REFERENCES "public"."units"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "relations" ADD CONSTRAINT "relations_model_id_models_id_fk" FOREIGN KEY ("model_id") REFERENCES "public"."models"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "hook_runs" ADD CONSTRAINT "hook_runs_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "hook_runs" ADD CONSTRAINT "hook_runs_unit_id_units_id_fk" FOREIGN KEY ("unit_id") REFERENCES "public"."units"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "services_name" ON "services" USING btree ("model_id","name") WHERE "services"."removed_at" is null;--> statement-breakpoint
CREATE INDEX "services_formula" ON "services" USING btree ("formula","formula_version");--> statement-breakpoint
CREATE INDEX "unit_heads_moved" ON "unit_heads" USING btree ("moved_at");--> statement-breakpoint
CREATE UNIQUE INDEX "units_name" ON "units" USING btree ("model_id","name");--> statement-breakpoint
CREATE INDEX "units_service" ON "units" USING btree ("service_id","number");--> statement-breakpoint
CREATE INDEX "units_vm" ON "units" USING btree ("vm_id") WHERE "units"."removed_at" is null;--> statement-breakpoint
CREATE INDEX "units_failing" ON "units" USING btree ("model_id") WHERE "units"."failing" <> '{}'::jsonb;--> statement-breakpoint
CREATE INDEX "relation_endpoints_service" ON "relation_endpoints" USING btree ("service_id");--> statement-breakpoint
CREATE INDEX "relation_log_at" ON "relation_log" USING btree ("at");--> statement-breakpoint
CREATE INDEX "relation_units_unit" ON "relation_units" USING btree ("unit_id");--> statement-breakpoint
CREATE INDEX "relation_units_clock" ON "relation_units" USING btree ("relation_id","clock");--> statement-breakpoint
CREATE UNIQUE INDEX "relations_number" ON "relations" USING btree ("model_id","number");--> statement-breakpoint
CREATE INDEX "relations_moved" ON "relations" USING btree ("moved_at");--> statement-breakpoint
CREATE INDEX "relations_open" ON "relations" USING btree ("model_id") WHERE "relations"."removed_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "hook_runs_number" ON "hook_runs" USING btree ("vm_id","unit_id","number");--> statement-breakpoint
CREATE UNIQUE INDEX "hook_runs_running" ON "hook_runs" USING btree ("vm_id","unit_id") WHERE "hook_runs"."outcome" = 'running';--> statement-breakpoint
CREATE INDEX "hook_runs_begun" ON "hook_runs" USING btree ("begun_at");