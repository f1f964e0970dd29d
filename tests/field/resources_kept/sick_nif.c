/* A tensor is a resource with memory of the system, which is given back when nothing refers to the resource any more. */
#include <erl_nif.h>
#include <stdlib.h>
#include <string.h>

static ErlNifResourceType *tensors;

static void forget(ErlNifEnv *env, void *resource)
{
    (void)env;
    free(*(void **)resource);
}

static ERL_NIF_TERM tensor(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    unsigned bytes;
    void **resource;
    ERL_NIF_TERM term;
    (void)argc;
    if (!enif_get_uint(env, argv[0], &bytes)) return enif_make_badarg(env);
    resource = enif_alloc_resource(tensors, sizeof *resource);
    *resource = malloc(bytes);
    if (*resource != NULL) memset(*resource, 1, bytes);
    term = enif_make_resource(env, resource);
    enif_release_resource(resource);
    return term;
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    (void)data;
    (void)info;
    tensors = enif_open_resource_type(env, NULL, "tensor", forget, ERL_NIF_RT_CREATE, NULL);
    return tensors == NULL;
}

static ErlNifFunc functions[] = {{"tensor", 1, tensor, ERL_NIF_DIRTY_JOB_CPU_BOUND}};
ERL_NIF_INIT(sick, functions, load, NULL, NULL, NULL)
