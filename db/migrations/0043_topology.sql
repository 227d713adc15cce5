CREATE TABLE "affinity_groups" (
	"name" text PRIMARY KEY NOT NULL,
	"location" text NOT NULL,
	"made_for" uuid,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "availability_sets" (
	"cloud_service" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "cloud_services" (
	"name" text PRIMARY KEY NOT NULL,
	"model_id" uuid NOT NULL,
	"label" text,
	"dns_name" text,
	"public_address" text,
	"state" text NOT NULL,
	"lease_until" timestamp with time zone,
	"next_deployment" integer NOT NULL,
	"gone_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "deployments" (
	"cloud_service" text NOT NULL,
	"name" text NOT NULL,
	"slot" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL,
	CONSTRAINT "deployments_cloud_service_name_pk" PRIMARY KEY("cloud_service","name"),
	CONSTRAINT "deployments_slot" UNIQUE("cloud_service","slot") DEFERRABLE INITIALLY IMMEDIATE
);
--> statement-breakpoint
CREATE TABLE "endpoints" (
	"vm_id" uuid NOT NULL,
	"protocol" text NOT NULL,
	"public_port" integer NOT NULL,
	"cloud_service" text NOT NULL,
	"deployment" text NOT NULL,
	"local_port" integer NOT NULL,
	"name" text NOT NULL,
	"set_name" text,
	"source" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL,
	CONSTRAINT "endpoints_vm_id_protocol_public_port_pk" PRIMARY KEY("vm_id","protocol","public_port")
);
--> statement-breakpoint
CREATE TABLE "models" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"life" text NOT NULL,
	"location" text NOT NULL,
	"storage_account" text NOT NULL,
	"affinity_group" text NOT NULL,
	"network" text NOT NULL,
	"availability_sets_enabled" boolean NOT NULL,
	"bootstrapped_at" timestamp with time zone,
	"lease_until" timestamp with time zone,
	"machine_counter" integer DEFAULT 0 NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"destroying_at" timestamp with time zone,
	"destroying_by" text,
	"forced" boolean DEFAULT false NOT NULL,
	"warnings" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"removed_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "networks" (
	"name" text PRIMARY KEY NOT NULL,
	"cidr" text NOT NULL,
	"made_for" uuid,
	"next_address" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "storage_accounts" (
	"name" text PRIMARY KEY NOT NULL,
	"location" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "storage_objects" (
	"account" text NOT NULL,
	"container" text NOT NULL,
	"name" text NOT NULL,
	"content" jsonb NOT NULL,
	"written_at" timestamp with time zone NOT NULL,
	CONSTRAINT "storage_objects_account_container_name_pk" PRIMARY KEY("account","container","name")
);
--> statement-breakpoint
CREATE TABLE "vm_roles" (
	"vm_id" uuid PRIMARY KEY NOT NULL,
	"model_id" uuid NOT NULL,
	"cloud_service" text NOT NULL,
	"deployment" text NOT NULL,
	"name" text NOT NULL,
	"controller" boolean NOT NULL,
	"availability_set" text,
	"machine" integer NOT NULL,
	"hostname" text NOT NULL,
	"user_name" text NOT NULL,
	"password" "bytea" NOT NULL,
	"size" text NOT NULL,
	"disks" jsonb NOT NULL,
	"network_configuration" jsonb NOT NULL,
	"assigned_address" text,
	"state" text NOT NULL,
	"lease_until" timestamp with time zone,
	"deleting_at" timestamp with time zone,
	"forced" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "internal_address" text;--> statement-breakpoint
ALTER TABLE "vms" ADD COLUMN "instance_id" text;--> statement-breakpoint
ALTER TABLE "vms" ADD COLUMN "disruption_group" text;--> statement-breakpoint
ALTER TABLE "affinity_groups" ADD CONSTRAINT "affinity_groups_made_for_models_id_fk" FOREIGN KEY ("made_for") REFERENCES "public"."models"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "availability_sets" ADD CONSTRAINT "availability_sets_cloud_service_cloud_services_name_fk" FOREIGN KEY ("cloud_service") REFERENCES "public"."cloud_services"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "cloud_services" ADD CONSTRAINT "cloud_services_model_id_models_id_fk" FOREIGN KEY ("model_id") REFERENCES "public"."models"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_cloud_service_cloud_services_name_fk" FOREIGN KEY ("cloud_service") REFERENCES "public"."cloud_services"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "endpoints" ADD CONSTRAINT "endpoints_vm_id_vm_roles_vm_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vm_roles"("vm_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "networks" ADD CONSTRAINT "networks_made_for_models_id_fk" FOREIGN KEY ("made_for") REFERENCES "public"."models"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "storage_objects" ADD CONSTRAINT "storage_objects_account_storage_accounts_name_fk" FOREIGN KEY ("account") REFERENCES "public"."storage_accounts"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vm_roles" ADD CONSTRAINT "vm_roles_vm_id_vms_id_fk" FOREIGN KEY ("vm_id") REFERENCES "public"."vms"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vm_roles" ADD CONSTRAINT "vm_roles_model_id_models_id_fk" FOREIGN KEY ("model_id") REFERENCES "public"."models"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vm_roles" ADD CONSTRAINT "vm_roles_cloud_service_cloud_services_name_fk" FOREIGN KEY ("cloud_service") REFERENCES "public"."cloud_services"("name") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "cloud_services_model" ON "cloud_services" USING btree ("model_id");--> statement-breakpoint
CREATE UNIQUE INDEX "cloud_services_dns" ON "cloud_services" USING btree ("dns_name") WHERE "cloud_services"."gone_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "cloud_services_address" ON "cloud_services" USING btree ("public_address") WHERE "cloud_services"."gone_at" is null;--> statement-breakpoint
CREATE INDEX "cloud_services_open" ON "cloud_services" USING btree ("lease_until") WHERE "cloud_services"."gone_at" is null and "cloud_services"."state" <> 'ready';--> statement-breakpoint
CREATE UNIQUE INDEX "endpoints_single" ON "endpoints" USING btree ("cloud_service","deployment","protocol","public_port") WHERE "endpoints"."set_name" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "models_name" ON "models" USING btree ("name") WHERE "models"."removed_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "vm_roles_name" ON "vm_roles" USING btree ("cloud_service","name");--> statement-breakpoint
CREATE UNIQUE INDEX "vm_roles_machine" ON "vm_roles" USING btree ("model_id","machine");--> statement-breakpoint
CREATE INDEX "vm_roles_open" ON "vm_roles" USING btree ("lease_until") WHERE "vm_roles"."state" <> 'ready';--> statement-breakpoint
CREATE UNIQUE INDEX "vms_instance" ON "vms" USING btree ("instance_id") WHERE "vms"."deleted_at" is null;